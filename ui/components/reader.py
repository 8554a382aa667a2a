"""What makes a report answer to the mouse and the keyboard: a card at a number or a marked claim, and the drawer behind it.

The script only listens: all markup is made, escaped, in Python, and what the cards show is set as text.
"""

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import NamedTuple

import streamlit as st
from streamlit.components.v2.types import ComponentRenderer

from ui.components.claims_view import doubtful, why
from ui.components.markup import host
from ui.language import named, say
from ui.report import Report

Cards = dict[str, dict[str, dict[str, str]]]
SCRIPT = Path(__file__).parent.parent / "assets" / "reader.js"


@cache
def _component() -> ComponentRenderer:
    return st.components.v2.component("rubrica_reader", js=SCRIPT.read_text("utf-8"), isolate_styles=False)


def cards(report: Report, mark: str = "") -> Cards:
    """What the cards say: by the names that citations and claims have on the page."""
    return {
        "citations": {
            f"{mark}{citation.n}": {"quote": citation.quote, "title": citation.source.title, "where": host(citation.source.url)}
            for citation in report.citations
        },
        "claims": {
            f"{mark}{n}": {"kind": named("support", claim.support), "why": why(claim)}
            for n, claim in enumerate(report.claims)
            if doubtful(claim)
        },
    }


def of_all(texts: Mapping[str, Report]) -> Cards:
    """The cards of several texts on one page, each by what goes before its names."""
    together: Cards = {"citations": {}, "claims": {}}
    for mark, report in texts.items():
        for kind, found in cards(report, mark).items():
            together[kind] |= found
    return together


class Asked(NamedTuple):
    """What was just clicked, if anything: a citation by its name, or a section to change by its place."""

    citation: str | None
    section: int | None


def listen(known: Cards) -> Asked:
    """Put the listener on the page; what was just asked of it."""
    data = known | {"hint": say("read.card_hint")}
    asked = _component()(key="reader", data=data, on_cite_change=_nothing, on_section_change=_nothing)
    section = str(asked.section or "")
    return Asked(str(asked.cite) if asked.cite else None, int(section) if section.isdecimal() else None)


def _nothing() -> None:
    """A trigger is only kept for the run it causes when somebody listens to its change."""
