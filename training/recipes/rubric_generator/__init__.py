"""The generator of query-specific rubrics, trained with hybrid rewards (QSR 3.3)."""
