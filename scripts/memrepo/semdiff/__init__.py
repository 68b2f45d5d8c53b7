"""The semantic diff: what changed in an agent, not which lines of JSON. Pure."""
