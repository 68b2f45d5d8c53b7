"""Three-way merge of memory by meaning. Pure: bytes in, bytes or conflicts out."""
