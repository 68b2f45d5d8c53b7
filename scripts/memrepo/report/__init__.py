"""Findings and diffs as text, JSON, Markdown, SARIF and HTML. Pure."""
