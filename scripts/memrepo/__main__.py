"""``python -m memrepo``."""

from memrepo.cli.app import main

main()
