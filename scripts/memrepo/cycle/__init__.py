"""The job "cycle": one commit an agent cycle, and the way back to an earlier one."""
