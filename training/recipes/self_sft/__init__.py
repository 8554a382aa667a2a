"""Supervised fine-tuning on the policy's own good outputs (MDR 5.4, Eq. 15)."""
