"""The files of a local forge; ``forge/local.py`` puts the parts together."""
