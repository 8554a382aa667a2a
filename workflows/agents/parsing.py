"""Reading what models write."""


def without_thinking(text: str) -> str:
    """The text without private thinking."""
    return text
