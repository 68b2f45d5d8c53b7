"""Keeping a clone fast and small: pack, index, and drop what nothing needs."""
