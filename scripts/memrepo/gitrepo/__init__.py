"""The only room that speaks Git: objects, refs, commits, sync, log."""
