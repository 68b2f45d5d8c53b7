"""The job ``doctor``: what is wrong with a clone, why it matters, and how to repair it."""
