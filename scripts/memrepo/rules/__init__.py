"""The rules that judge what memory says and what a change does to it. Pure."""
