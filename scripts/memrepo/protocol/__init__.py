"""What the files of a memory repo are. Pure: bytes in, typed values or findings out."""
