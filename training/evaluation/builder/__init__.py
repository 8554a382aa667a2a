"""A benchmark from readers' questions: consent, a model's first look, experts' review, a versioned set (MindDR 4.3)."""
