"""Lists of columns for statements whose rows become a noun."""

from app.domain.value import Value


def columns_of(noun: type[Value], table: str = "") -> str:
    """Return the columns that a noun's fields are named after: `id, name`, or `t.id, t.name` where `table` is `t`."""
    return ", ".join(f"{table}.{name}" if table else name for name in noun.model_fields)
