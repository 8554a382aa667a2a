"""Marks for claims in a paragraph: the sentence behind a claim is found again and put into an element of its own."""

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from markdown_it.token import Token

from rubrica_client.models import Claim
from ui.components.claims_view import doubt_of
from ui.components.markup import escape

# A claim and its paragraph may differ in white space, citation numbers and emphasis.
IGNORED = re.compile(r"\[\d{1,4}\]|[\s*_`†‡¶]")


class Position(NamedTuple):
    """A character of a paragraph: the index of its token, and its position in that token."""

    token: int
    position: int


def mark_claims(tokens: Sequence[Token], claims: Mapping[int, Claim], mark: str = "") -> list[Token]:
    """Return the tokens of one paragraph with the claims in it marked. `claims` are by their number."""
    marked_tokens = list(tokens)
    paragraph = squeeze("".join(token.content for token in tokens if token.type == "text"))
    for n, claim in claims.items():
        wanted = squeeze(claim.text)
        span = _find_claim(marked_tokens, wanted) if wanted and wanted in paragraph else None
        if span and _is_balanced(marked_tokens, *span):
            marked_tokens = _wrap_claim(marked_tokens, *span, f"{mark}{n}", claim)
    return marked_tokens


@lru_cache(maxsize=4_096)
def squeeze(words: str) -> str:
    """Return the text without the characters in which a claim and its paragraph may differ."""
    return IGNORED.sub("", words)


def _find_claim(tokens: Sequence[Token], wanted: str) -> tuple[Position, Position] | None:
    """Return the first and the last character of the claim; None if it is not there."""
    places = [
        Position(index, position)
        for index, token in enumerate(tokens)
        if token.type == "text"
        for position in range(len(token.content))
    ]
    paragraph = "".join(token.content for token in tokens if token.type == "text")
    ignored = {at for match in IGNORED.finditer(paragraph) for at in range(*match.span())}
    positions = [at for at in range(len(paragraph)) if at not in ignored]
    begin = "".join(paragraph[at] for at in positions).find(wanted)
    return (places[positions[begin]], places[positions[begin + len(wanted) - 1]]) if begin >= 0 else None


def _is_balanced(tokens: Sequence[Token], first: Position, last: Position) -> bool:
    """Return whether an element around this stretch would cross no other one, such as an emphasis that ends within it."""
    levels = [token.level for token in tokens[first.token : last.token + 1]]
    return levels[0] == levels[-1] == min(levels)


def _wrap_claim(tokens: Sequence[Token], first: Position, last: Position, name: str, claim: Claim) -> list[Token]:
    kind = claim.support if claim.support != "full" else "weak"
    title = escape(doubt_of(claim))
    opening = f'<span class="r-claim {escape(kind)}" id="claim-{name}" data-claim="{name}" tabindex="0" title="{title}">'
    before, inside, after = list(tokens[: first.token]), list(tokens[first.token : last.token + 1]), tokens[last.token + 1 :]
    end = last.position + 1
    if len(inside) == 1:
        content = inside[0].content
        pieces = [_copy_token(inside[0], content[first.position : end])]
        head, tail = content[: first.position], content[end:]
    else:
        head, tail = inside[0].content[: first.position], inside[-1].content[end:]
        pieces = [
            _copy_token(inside[0], inside[0].content[first.position :]),
            *inside[1:-1],
            _copy_token(inside[-1], inside[-1].content[:end]),
        ]
    level = tokens[first.token].level
    return [
        *before,
        _make_text(head, level),
        _make_html(opening, level),
        *pieces,
        _make_html("</span>", level),
        _make_text(tail, level),
        *after,
    ]


def _copy_token(token: Token, content: str) -> Token:
    return _make_text(content, token.level)


def _make_text(content: str, level: int) -> Token:
    return Token("text", "", 0, content=content, level=level)


def _make_html(content: str, level: int) -> Token:
    return Token("html_inline", "", 0, content=content, level=level)
