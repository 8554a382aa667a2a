"""Report data: what Report-RL learns from, in two forms (MindDR section 4.6)."""
