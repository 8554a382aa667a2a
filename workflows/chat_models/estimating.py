"""Token counts for servers that state none: about four characters a token, one for an ideograph. Good to some 20 per cent."""

from app.domain.budget import Usage
from app.domain.chat import ChatRequest


def estimated_usage(request: ChatRequest, answer: str) -> Usage:
    """Input and output tokens, counted from the texts."""
    said = sum(estimated_tokens(m.content) + 4 for m in request.messages)
    return Usage(input_tokens=said, output_tokens=estimated_tokens(answer))


def estimated_tokens(text: str) -> int:
    """About how many tokens a text has."""
    others = len(text) - len(text.encode("ascii", "ignore"))
    return others + (len(text) - others + 3) // 4
