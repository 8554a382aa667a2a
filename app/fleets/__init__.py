"""One system over a data set of questions."""
