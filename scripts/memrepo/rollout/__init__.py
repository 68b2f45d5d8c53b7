"""Rollouts: trials of memory on a branch, step by step."""
