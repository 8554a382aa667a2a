"""Outputs of a policy for the same prompt, scored and divided into good and bad ones (MDR section 5.4)."""
