"""Screening results from outside before an agent sees them: passages that try to instruct their reader are withheld.

A passage is withheld whole. A model cannot obey what it does not see, and a passage is short, so that a mistake costs little. The
source is marked, so that the reader is warned if the report cites it. Documents that people put in themselves are only marked: a
mistake there takes from them the very paper that they asked about.
"""

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from urllib.parse import unquote

from app.domain.address import host_of
from app.domain.chat import Suspicion, ToolResult
from app.domain.evidence import Passage, Source
from retrieval.ports import Document
from workflows.agents.injection import HIDDEN, InjectionHit, find_injections, names_of

OWN_KIND = "file"
"""The kind of the sources that people put in themselves."""
NEAR_CHARS = 400
"""The characters around a hit that are withheld with it: an instruction and its object may stand in different paragraphs."""
KEPT_TEXTS = 16_384
"""Passages and titles whose hits are remembered, of all runs: they find the same ones again, and one takes a millisecond."""
_known: dict[bytes, tuple[InjectionHit, ...]] = {}
_WORDS_OF_ADDRESS = re.compile(r"[-_+/.?&=#]+")


def screen_passages(passages: Sequence[Passage], withholds: bool = True) -> ToolResult:
    """Screen search results, each by its own text and the data of its source. Without `withholds` they are only marked."""
    judged = [(passage, names_of((*_find_known(passage.text), *_hits_about(passage.source)))) for passage in passages]
    found: dict[str, tuple[str, ...]] = {}
    for passage, names in judged:
        if names:
            found[passage.source.url] = tuple(sorted({*found.get(passage.source.url, ()), *names}))
    withheld = [passage for passage, names in judged if names and withholds and passage.source.kind != OWN_KIND]
    return _make_result([passage for passage in passages if passage not in withheld], withheld, found)


def screen_part(document: Document, passages: Sequence[Passage]) -> ToolResult:
    """Screen a part of a document as a whole, with the text next to it and the text that the page hides from readers."""
    about = _hits_about(document.source)
    start, end = _window_around(document, passages)
    hits = [InjectionHit(hit.rule, hit.start + start, hit.end + start) for hit in find_injections(document.text[start:end])]
    hidden = (HIDDEN,) if find_injections(document.hidden) else ()
    names = tuple(sorted({*names_of((*hits, *about)), *hidden}))
    own = document.source.kind == OWN_KIND
    withheld = [passage for passage in passages if not own and (about or _is_near_hit(passage, hits))]
    kept = [passage for passage in passages if passage not in withheld]
    return _make_result(kept, withheld, {document.source.url: names} if names else {})


def _window_around(document: Document, passages: Sequence[Passage]) -> tuple[int, int]:
    if not passages:
        return 0, 0
    return max(0, passages[0].start - NEAR_CHARS), min(len(document.text), passages[-1].end + NEAR_CHARS)


def _is_near_hit(passage: Passage, hits: Iterable[InjectionHit]) -> bool:
    return any(hit.start - NEAR_CHARS < passage.end and passage.start < hit.end + NEAR_CHARS for hit in hits)


def _hits_about(source: Source) -> tuple[InjectionHit, ...]:
    """Return the hits in a source's title, author and address, because the model sees them too."""
    address = _WORDS_OF_ADDRESS.sub(" ", unquote(source.url.partition("://")[2]))
    return tuple(hit for text in (source.title, source.author, address) for hit in _find_known(text))


def _find_known(text: str) -> tuple[InjectionHit, ...]:
    """Find injections in a text that is likely to come again. Its hash is remembered in its place."""
    key = hashlib.blake2b(text.encode(), digest_size=16).digest()
    if key not in _known:
        if len(_known) == KEPT_TEXTS:
            del _known[next(iter(_known))]
        _known[key] = find_injections(text)
    return _known[key]


def _make_result(kept: Sequence[Passage], withheld: Sequence[Passage], found: dict[str, tuple[str, ...]]) -> ToolResult:
    counts = Counter(passage.source.url for passage in withheld)
    titles = {p.source.url: _safe_title(p.source) for p in (*kept, *withheld) if p.source.url in found}
    return ToolResult(
        passages=tuple(_mark_passage(passage, found.get(passage.source.url, ())) for passage in kept),
        suspicious=tuple(
            Suspicion(url=url, title=titles.get(url, ""), patterns=names, withheld=counts[url]) for url, names in found.items()
        ),
        note=f"{len(withheld)} passages were withheld: they try to instruct whoever reads them" if withheld else "",
    )


def _safe_title(source: Source) -> str:
    """Return the title, or the host if the title is an instruction itself."""
    return host_of(source.url) if find_injections(source.title) else source.title


def _mark_passage(passage: Passage, names: tuple[str, ...]) -> Passage:
    if not names:
        return passage
    return passage.model_copy(update={"source": passage.source.model_copy(update={"suspicions": names})})
