"""The job "history": what an agent was, cycle by cycle, and who brought what."""
