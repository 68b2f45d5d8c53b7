"""The job "publish": a review where the pull request is: one comment, labels."""
