"""A citation in its source: the source, the claims that rest on it, and the passage with the quoted words marked."""

from collections.abc import Sequence

import streamlit as st

from rubrica_client import ApiError, Client, reports
from rubrica_client.models import Citation, Claim
from ui.components import problem
from ui.components.markup import escape, labelled_html, link_html
from ui.components.report_view import claims_citing
from ui.language import say, say_name
from ui.report import PageReport

AROUND = 600  # a few lines before the quotation, so that it is in view when the drawer opens
LONGEST_WORD = 40


def heading_html(citation: Citation, characters: int) -> str:
    """Return the citation's number, its page and its place in the stored copy, and the source's title as HTML."""
    source = citation.source
    page = (say("source.page", page=citation.page),) if citation.page else ()
    characters_said = say("source.place", start=f"{citation.start:,}", end=f"{citation.end:,}", all=f"{characters:,}")
    place = " · ".join((*page, characters_said))
    return (
        f'<div class="r-eyebrow"><span>{escape(say("source.citation", n=citation.n))}</span><span>{escape(place)}</span></div>'
        f'<h2 class="r-question">{link_html(source.url, source.title or source.url)}</h2>{facts_html(citation)}'
    )


def facts_html(citation: Citation) -> str:
    """Return what is known of the source as HTML; a retraction and a preprint stand out."""
    source = citation.source
    facts = [fact for fact in (source.venue, source.published, source.doi) if fact]
    chips = [("bad", "source.retracted")] if source.retracted else []
    chips += [("warn", "source.preprint")] if source.preprint else []
    marks = "".join(f'<span class="r-chip {kind}">{escape(say(key))}</span>' for kind, key in chips)
    return (
        f'<div class="r-eyebrow">{marks}{"".join(f"<span>{escape(fact)}</span>" for fact in facts)}</div>'
        if facts or marks
        else ""
    )


def resting_claims_html(claims: Sequence[Claim]) -> str:
    """Return the claims that rest on the citation as HTML, each with how well it is supported."""
    items = "".join(
        f'<li><span class="r-chip {escape(claim.support)}">{escape(say_name("support", claim.support))}</span> '
        f"{escape(claim.text)}</li>"
        for claim in claims
    )
    return labelled_html(say("source.claims"), f'<ul class="r-list">{items}</ul>')


def show(client: Client, report: PageReport, number: str) -> None:
    """Draw the citation of this number, or say why it cannot be shown."""
    citation = next((c for c in report.citations if str(c.n) == number), None)
    if citation is None:
        st.html(f'<div class="r-note bad" role="alert">{escape(say("source.none", n=number))}</div>')
        return
    try:
        snapshot = client.send(reports.snapshot(citation.source.snapshot))
    except ApiError as error:
        st.html(heading_html(citation, 0))
        problem.show(error)
        return
    st.html(heading_html(citation, len(snapshot)))
    whole = st.toggle(say("source.whole"), key="whole_source")
    st.html(passage_html(snapshot, citation, whole=whole))
    resting = claims_citing(report.claims, citation.n)
    if resting:
        st.html(resting_claims_html(resting))
    st.caption(say("source.stored", name=citation.source.snapshot[:16]))


def passage_html(snapshot: str, citation: Citation, *, whole: bool = False, around: int = AROUND) -> str:
    """Return the quote with `around` characters on each side, or with the whole text, as HTML.

    The marked words are those at the citation's offsets. If they differ from its quote, a note says so.
    """
    start, end = citation.start, citation.end
    first, last = (
        (0, len(snapshot)) if whole else (_find_word_start(snapshot, start - around), _find_word_end(snapshot, end + around))
    )
    cut_before = '<span class="cut">… </span>' if first > 0 else ""
    cut_after = '<span class="cut"> …</span>' if last < len(snapshot) else ""
    differs = f'<div class="r-note bad">{escape(say("source.differs"))}</div>'
    wrong = "" if snapshot[start:end] == citation.quote else differs
    return (
        f'{wrong}<div class="r-source">{cut_before}{escape(snapshot[first:start])}'
        f"<mark>{escape(snapshot[start:end])}</mark>{escape(snapshot[end:last])}{cut_after}</div>"
    )


def _find_word_start(text: str, position: int) -> int:
    """Return a position at or after this one where a word begins; this one if no word begins near it."""
    if position <= 0:
        return 0
    space = text.find(" ", position, position + LONGEST_WORD)
    return space + 1 if space >= 0 else position


def _find_word_end(text: str, position: int) -> int:
    if position >= len(text):
        return len(text)
    space = text.rfind(" ", position - LONGEST_WORD, position)
    return space if space >= 0 else position
