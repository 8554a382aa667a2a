"""The parts of fleets: one system over a data set of questions."""
