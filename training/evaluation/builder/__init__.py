"""The builder of a benchmark from readers' questions (MindDR 4.3): consent, screening, experts' review, a versioned set."""
