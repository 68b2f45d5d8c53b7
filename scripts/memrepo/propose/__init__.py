"""The job "propose": put an agent's uncommitted changes up for review."""
