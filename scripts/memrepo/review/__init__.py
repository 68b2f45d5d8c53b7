"""The review of a change: findings and semantic diff, judged."""
