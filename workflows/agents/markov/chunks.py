"""An observation cut into chunks at semantic boundaries (QSR section 3.4): passages, else paragraphs, else sentences."""

from collections.abc import Iterable, Iterator, Sequence

from app.domain.evidence import Passage
from retrieval.language.paragraphs import split_paragraphs
from retrieval.language.sentences import list_sentences
from workflows.agents.observing import attributes
from workflows.agents.untrusted import as_source


def chunks_of(passages: Sequence[tuple[str, Passage]], chars: int) -> list[str]:
    """Return the passages as data under their ids, in chunks of about `chars` characters. Nothing is left out."""
    return list(
        _packed((_shown(short, passage, text) for short, passage in passages for text in _pieces(passage.text, chars)), chars)
    )


def _shown(short: str, passage: Passage, text: str) -> str:
    return f'<snippet id="{short}" {attributes(passage)}>\n{as_source(text)}\n</snippet>'


def _pieces(text: str, chars: int) -> Iterator[str]:
    """Yield the whole text if it is short enough, else its paragraphs, else their sentences, joined up to the length."""
    if len(text) <= chars:
        yield text
        return
    paragraphs = [text[span.start : span.end] for span in split_paragraphs(text)]
    if len(paragraphs) > 1:
        for packed in _packed(paragraphs, chars):
            yield from _pieces(packed, chars) if len(packed) > chars else (packed,)
        return
    sentences = list_sentences(text)
    yield from _packed(sentences, chars) if len(sentences) > 1 else (text[i : i + chars] for i in range(0, len(text), chars))


def _packed(texts: Iterable[str], chars: int) -> Iterator[str]:
    """Join neighbouring texts while they fit."""
    joined = ""
    for text in texts:
        if joined and len(joined) + len(text) + 1 > chars:
            yield joined
            joined = ""
        joined = f"{joined}\n{text}" if joined else text
    if joined:
        yield joined
