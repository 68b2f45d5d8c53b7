"""The job "records": what agents share, written, found and ended, and an index to find it by."""
