"""Outcomes of a rollout's units, compared: what the numbers allow to conclude."""
