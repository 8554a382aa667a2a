"""Judges: who says whether evidence supports a claim. The product, rewards and evaluation share them."""
