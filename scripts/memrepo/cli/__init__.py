"""The command line: parses, calls one job, prints. No logic."""
