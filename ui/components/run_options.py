"""Options of a run: how the report is written, where agents search, and at what limit the run stops."""

from collections.abc import Sequence
from datetime import date
from typing import Any

import streamlit as st

from rubrica_client.models import Budget
from ui.components.controls import ask_budget
from ui.components.own_collections import ChosenCollections
from ui.language import LANGUAGES, say, say_name
from ui.session import has_model, is_own_machine, list_searchable

LENGTHS = ("short", "medium", "long")
TONES = ("neutral", "academic", "business", "plain")
COMPOSITIONS = ("sections", "single_pass")
FORMATS = ("report", "brief", "table_first", "bullets")
SOURCES = ("corpora", "web", "scholar")


def show(own: ChosenCollections) -> dict[str, Any]:
    """Draw the form, and return the fields of a new run that were chosen."""
    writing, searching, limits = st.columns(3, gap="large")
    with writing:
        written = _ask_writing()
    with searching:
        searched = _ask_searching()
    with limits:
        st.caption(say("ask.limit_help"))
        budget = ask_budget("cap", Budget())
    searched["sources"] = own.list_sources(searched["sources"])
    chosen = {name: value for name, value in (written | searched).items() if value}
    return chosen | {"budget": budget, "collections": own.names}


def _ask_writing() -> dict[str, Any]:
    asked = {
        "language": _ask_one_of("report_language", "language", ("", *LANGUAGES)),
        "length": _ask_one_of("length", "length", ("", *LENGTHS)),
        "format": _ask_one_of("format", "format", ("", *FORMATS)),
    }
    return asked | _ask_model_writing() if has_model() else asked


def _ask_model_writing() -> dict[str, Any]:
    """Draw what only a language model can heed."""
    return {
        "tone": _ask_one_of("tone", "tone", ("", *TONES)),
        "composition": _ask_one_of("composition", "composition", ("", *COMPOSITIONS)),
        "audience": st.text_input(say("ask.audience"), max_chars=200, key="audience", placeholder=say("ask.audience_hint")),
    }


def _ask_one_of(key: str, group: str, options: tuple[str, ...]) -> str:
    return st.selectbox(
        say(f"ask.{group}"), options, key=key, format_func=lambda value: _name_choice(group, value), filter_mode=None
    ) or ""  # fmt: skip


def _name_choice(group: str, value: str) -> str:
    if group == "language":
        return LANGUAGES.get(value) or say("ask.same_language")
    return say_name(group, value) if value else say("ask.open")


def _ask_searching() -> dict[str, Any]:
    there = list_searchable()
    sources = st.pills(
        say("ask.sources"),
        [kind for kind in SOURCES if kind in there],
        selection_mode="multi",
        key="sources",
        wrap=True,
        format_func=lambda kind: say_name("sources", kind),
        help=say("ask.sources_help"),
    )
    _tell_missing([kind for kind in SOURCES if kind not in there])
    first = st.date_input(say("ask.published_from"), None, date(1500, 1, 1), key="published_from", format="YYYY-MM-DD")
    last = st.date_input(say("ask.published_to"), None, date(1500, 1, 1), key="published_to", format="YYYY-MM-DD")
    return {
        "sources": tuple(sources),
        "published_from": first.isoformat() if isinstance(first, date) else None,
        "published_to": last.isoformat() if isinstance(last, date) else None,
        "domains_allowed": _ask_names("domains_allowed", "domains_hint"),
        "domains_refused": _ask_names("domains_refused", "domains_hint"),
        "tools_that_write": _ask_names("tools_that_write", "tools_that_write_hint", most=20) if "web" in there else (),
    }


def _tell_missing(kinds: Sequence[str]) -> None:
    """Say which kinds of sources are not set up, and who can change that."""
    if kinds:
        names = say("log.comma").join(say_name("sources", kind) for kind in kinds)
        st.caption(say("ask.missing_own" if is_own_machine() else "ask.missing", kinds=names))


def _ask_names(key: str, hint: str, most: int = 50) -> tuple[str, ...]:
    typed = st.multiselect(
        say(f"ask.{key}"), [], key=key, accept_new_options=True, placeholder=say(f"ask.{hint}"), max_selections=most
    )
    return tuple(typed)
