"""The job "validate": every rule over files, the index, or a change."""
