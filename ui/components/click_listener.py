"""The listener that makes a report react to mouse and keyboard: a card at a number or marked claim, and the drawer behind it.

Python makes and escapes all markup; the script only listens, and sets what the cards show as text.
"""

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import NamedTuple

import streamlit as st
from streamlit.components.v2.types import ComponentRenderer

from ui.components.claims_view import doubt_of, is_doubtful
from ui.components.markup import site_of
from ui.language import say, say_name
from ui.report import PageReport

Cards = dict[str, dict[str, dict[str, str]]]
SCRIPT = Path(__file__).parent.parent / "assets" / "reader.js"


@cache
def _load_component() -> ComponentRenderer:
    return st.components.v2.component("rubrica_reader", js=SCRIPT.read_text("utf-8"), isolate_styles=False)


def make_cards(report: PageReport, mark: str = "") -> Cards:
    """Return the texts of the cards, by the names that citations and claims have on the page. `mark` goes before these names."""
    return {
        "citations": {
            f"{mark}{citation.n}": {
                "quote": citation.quote,
                "title": citation.source.title,
                "where": site_of(citation.source.url),
            }
            for citation in report.citations
        },
        "claims": {
            f"{mark}{n}": {"kind": say_name("support", claim.support), "why": doubt_of(claim)}
            for n, claim in enumerate(report.claims)
            if is_doubtful(claim)
        },
    }


def merge_cards(texts: Mapping[str, PageReport]) -> Cards:
    """Return the cards of several texts on one page, each by the prefix of its names."""
    together: Cards = {"citations": {}, "claims": {}}
    for mark, report in texts.items():
        for kind, entries in make_cards(report, mark).items():
            together[kind] |= entries
    return together


class ReaderClick(NamedTuple):
    """A click of the reader, if any: on a citation, by its name, or on a button that changes a section, by its number."""

    citation: str | None
    section: int | None


def show_cards(texts: Mapping[str, PageReport]) -> None:
    """Put the listener on a page whose citations show their cards and open nothing."""
    _load_component()(key="cards", data=merge_cards(texts) | {"hint": ""})


def listen(known: Cards) -> ReaderClick:
    """Put the listener on the page, and return what was just clicked."""
    data = known | {"hint": say("read.card_hint")}
    clicked = _load_component()(key="reader", data=data, on_cite_change=_ignore_click, on_section_change=_ignore_click)
    section = str(clicked.section or "")
    return ReaderClick(str(clicked.cite) if clicked.cite else None, int(section) if section.isdecimal() else None)


def _ignore_click() -> None:
    """Do nothing: Streamlit keeps a trigger for the run it causes only if a callback listens to its change."""
