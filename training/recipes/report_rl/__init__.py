"""Reinforcement learning of the report writer (MDR 5.3, Eq. 10 to 13)."""
