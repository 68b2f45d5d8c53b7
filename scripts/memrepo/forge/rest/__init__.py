"""GitHub's REST API by way of PyGithub; ``forge/github.py`` puts the parts together."""
