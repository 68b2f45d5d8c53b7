"""``python -m memrepo.runner VERB``: one action, as ``scripts/action-setup`` starts it."""

import sys

from memrepo.runner.run import main

sys.exit(main(sys.argv[1:]))
