"""An observation cut into chunks at semantic boundaries (QSR section 3.4): passages, else paragraphs, else sentences."""

from collections.abc import Iterable, Iterator, Sequence

from app.domain.evidence import Passage
from retrieval.language.paragraphs import split_paragraphs
from retrieval.language.sentences import list_sentences
from workflows.agents.observation import attributes_of
from workflows.agents.untrusted import as_source


def cut_chunks(passages: Sequence[tuple[str, Passage]], chars: int) -> list[str]:
    """Return the passages as data under their ids, in chunks of about `chars` characters. Nothing is left out."""
    return list(
        _pack_texts(
            (_format_snippet(short, passage, text) for short, passage in passages for text in _split_text(passage.text, chars)),
            chars,
        )
    )


def _format_snippet(short: str, passage: Passage, text: str) -> str:
    return f'<snippet id="{short}" {attributes_of(passage)}>\n{as_source(text)}\n</snippet>'


def _split_text(text: str, chars: int) -> Iterator[str]:
    """Yield the whole text if it is short enough, else its paragraphs, else their sentences, joined up to the length."""
    if len(text) <= chars:
        yield text
        return
    paragraphs = [text[span.start : span.end] for span in split_paragraphs(text)]
    if len(paragraphs) > 1:
        for packed in _pack_texts(paragraphs, chars):
            yield from _split_text(packed, chars) if len(packed) > chars else (packed,)
        return
    sentences = list_sentences(text)
    yield from _pack_texts(sentences, chars) if len(sentences) > 1 else (text[i : i + chars] for i in range(0, len(text), chars))


def _pack_texts(texts: Iterable[str], chars: int) -> Iterator[str]:
    """Join neighbouring texts while they fit."""
    joined = ""
    for text in texts:
        if joined and len(joined) + len(text) + 1 > chars:
            yield joined
            joined = ""
        joined = f"{joined}\n{text}" if joined else text
    if joined:
        yield joined
