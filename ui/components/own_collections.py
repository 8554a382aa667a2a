"""The choice among the visitor's collections. Those that fit the question are chosen at once, besides the default corpus."""

from collections.abc import Sequence
from typing import NamedTuple

import streamlit as st

from rubrica_client import ApiError, asking
from rubrica_client.models import NewRun
from ui.components.markup import escape
from ui.facts import searches_corpora
from ui.language import say
from ui.sentences import say_searched
from ui.session import ask_once, get_api, get_equipment, list_own_collections, list_searchable

OWN, BESIDE, SUGGESTED = "own", "beside", "suggested_collections"
OUTSIDE = ("web", "scholar")
EVERYWHERE = ("corpora", "collections", *OUTSIDE)


class ChosenCollections(NamedTuple):
    """The names of the chosen collections, and whether the default corpus is searched besides them.

    `names` is None for a visitor who has no collections.
    """

    names: tuple[str, ...] | None
    beside: bool = False

    def list_sources(self, kinds: Sequence[str]) -> tuple[str, ...]:
        """Return the sources of the run; `kinds` are those that the visitor chose, if any."""
        if not self.names:
            return tuple(kinds)
        return (*kinds, "collections") if kinds else EVERYWHERE if self.beside else ()


def add(name: str) -> None:
    """Choose one more collection, which was made just now; before the choice is drawn."""
    st.session_state.pop("own_collections", None)  # the list of a moment ago lacks it
    st.session_state.setdefault(SUGGESTED, [])
    st.session_state[OWN] = [*st.session_state.get(OWN, ()), name]


def choose(question: str) -> ChosenCollections:
    """Draw the visitor's collections, if there are any, and return the choice. A link may have chosen one (`?in=`)."""
    try:
        names = [collection.name for collection in list_own_collections()]
    except ApiError:
        return ChosenCollections(None)  # the page asks the same API for the latest runs, and shows the error
    if not names:
        return ChosenCollections(None)
    linked = st.query_params.get("in")
    if OWN not in st.session_state:
        st.session_state[OWN], st.session_state[SUGGESTED] = [linked] if linked in names else [], []
    if question.strip():
        _take_suggestion(question, names)
    own = st.multiselect(say("ask.own"), names, key=OWN, help=say("ask.own_help"), placeholder=say("ask.own_hint"))
    beside = bool(own) and st.toggle(say("ask.beside"), key=BESIDE, help=say("ask.beside_help"))
    return ChosenCollections(tuple(own), beside)


def _take_suggestion(question: str, names: Sequence[str]) -> None:
    """Choose the collections that fit the question, unless the visitor has changed the choice."""
    if st.session_state[OWN] != st.session_state[SUGGESTED]:
        return
    try:
        found = ask_once("suggestion", question, lambda: get_api().send(asking.suggest(NewRun(question=question)))).collections
    except ApiError:
        found = ()
    fitting = [name for name in found if name in names]
    if fitting != st.session_state[SUGGESTED]:
        st.session_state[OWN], st.session_state[SUGGESTED], st.session_state[BESIDE] = fitting, list(fitting), True


def searched_html(new: NewRun) -> str:
    """Return one line that says which model works a run and what it searches, as HTML: nothing that is not set up."""
    outside = [kind for kind in OUTSIDE if kind in list_searchable() and (not new.sources or kind in new.sources)]
    there = get_equipment()
    model = say("ask.model", names=say("log.comma").join(there.models)) if there and there.models else ""
    line = " · ".join(filter(None, (model, say_searched(new.collections or (), searches_corpora(new), outside))))
    return f'<p class="r-quiet" role="status">{escape(line)}</p>'
