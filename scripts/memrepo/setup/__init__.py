"""The job ``init``: make a folder a memory repository, and bring an existing one up to date."""
