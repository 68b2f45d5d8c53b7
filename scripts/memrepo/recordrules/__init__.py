"""What a record may say, and whom it may overrule: the rules of trust. Pure."""
