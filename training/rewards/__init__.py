"""Rewards: pure functions over a transcript and the verdicts of judges. docs/evaluation.md explains each with its equation.

Every function returns a number, or `Missing` where a verdict it needs is missing: a failed judging call is never a zero.
"""
