"""The job "proposals": which pull requests of memory wait, how old, how judged, how stale."""
