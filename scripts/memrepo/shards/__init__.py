"""Shards of old snapshots: what they hold, their bytes, and reading them back. Pure."""
