"""A write that is sent twice is carried out once."""
