"""Recorded runs as trajectories for supervised fine-tuning (MindDR section 4.4)."""
