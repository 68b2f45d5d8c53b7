"""Where pull requests, comments and labels live: GitHub, or a local folder."""
