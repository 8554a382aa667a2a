"""Direct preference optimisation on the policy's own pairs (MDR 5.4, Eq. 14)."""
