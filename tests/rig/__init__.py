"""A GitHub and a runner on this machine, for the tests of the actions (see README.md)."""
