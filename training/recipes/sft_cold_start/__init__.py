"""The cold start by supervised fine-tuning (MDR 5.1, Eq. 1; DRub 4.1, B.1)."""
