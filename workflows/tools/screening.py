"""Screening results from outside before an agent sees them: passages that try to instruct their reader are withheld.

A passage is withheld whole. A model cannot obey what it does not see, and a passage is short, so that a mistake costs little. The
source is marked, so that the reader is warned if the report cites it. Documents that people put in themselves are only marked: a
mistake there takes from them the very paper that they asked about.
"""

from collections import Counter
from collections.abc import Iterable, Sequence

from app.domain.address import host_of
from app.domain.chat import Suspicion, ToolResult
from app.domain.evidence import Passage, Source
from retrieval.ports import Document, ScreenedPassage
from retrieval.untrusted.injection import HIDDEN, InjectionHit, find_injections, names_of
from retrieval.untrusted.passages import find_in_source, find_orders

OWN_KIND = "file"
"""The kind of the sources that people put in themselves."""
NEAR_CHARS = 400
"""The characters around a hit that are withheld with it: an instruction and its object may stand in different paragraphs."""


def screen_passages(passages: Sequence[Passage], withholds: bool = True) -> ToolResult:
    """Screen search results, each by its own text and the data of its source. Without `withholds` they are only marked."""
    judged = [_list_orders(passage) for passage in passages]
    found: dict[str, tuple[str, ...]] = {}
    for passage, names in judged:
        if names:
            found[passage.source.url] = tuple(sorted({*found.get(passage.source.url, ()), *names}))
    withheld = [passage for passage, names in judged if names and withholds and passage.source.kind != OWN_KIND]
    return _make_result([passage for passage, _ in judged if passage not in withheld], withheld, found)


def _list_orders(passage: Passage) -> tuple[Passage, tuple[str, ...]]:
    """Return a passage and the names of its orders, as the index knows them already, or found now."""
    if isinstance(passage, ScreenedPassage):
        return passage.without_orders(), passage.orders
    return passage, find_orders(passage)


def screen_part(document: Document, passages: Sequence[Passage]) -> ToolResult:
    """Screen a part of a document as a whole, with the text next to it and the text that the page hides from readers."""
    about = find_in_source(document.source)
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
