"""Rollouts: the product's own chain, run by a policy that learns, and the rows on which it is trained."""
