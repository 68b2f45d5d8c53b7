"""Which branch a unit reads: hashing, intervals, and the same rule as a flag file."""
