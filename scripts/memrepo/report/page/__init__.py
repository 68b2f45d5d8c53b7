"""The parts of the HTML page: frame, overview, agents, conversation, tools."""
