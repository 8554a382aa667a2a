"""Runs in a list, each a way to its page."""

from collections.abc import Callable, Sequence

import streamlit as st

from rubrica_client.models import Run
from ui.components.markup import plain, text
from ui.components.run_header import pill_html
from ui.facts import count_tokens
from ui.figures import clock, compact, money
from ui.language import count, named, say, when

LONGEST_TITLE = 140


def run_rows(runs: Sequence[Run], more: Callable[[Run], None] | None = None) -> None:
    """One row a run: its question as a link, then where it stands and what it used; at its end what `more` puts there."""
    for run in runs:
        with st.container(border=True, key=f"row_{run.id}", gap="xsmall"):
            with st.container(horizontal=True, vertical_alignment="center", gap="small"):
                st.page_link(
                    page_of(run), label=plain(shortened(run.query.question)), query_params={"run": run.id}, width="stretch"
                )
                if more:
                    more(run)
            st.html(row_html(run))


def page_of(run: Run) -> str:
    """Where a run is best looked at: its report when there is one, else its progress."""
    return "views/read.py" if run.status == "completed" else "views/watch.py"


def shortened(question: str, longest: int = LONGEST_TITLE) -> str:
    """The question on one line, cut where it would fill the page."""
    question = " ".join(question.split())
    return question if len(question) <= longest else question[:longest].rstrip() + "…"


def row_html(run: Run) -> str:
    """Status, when, how long, what it used."""
    usage = run.usage
    used = (
        count("call", usage.model_calls),
        count("search", usage.tool_calls),
        compact(count_tokens(usage)),
        money(usage.cost_microusd),
    )
    facts = [named("system", run.query.system), when(run.created_at, "short")]
    if run.finished_at:
        facts.append(say("history.took", time=clock(run.finished_at - run.created_at)))
    facts.append(say("history.used", calls=used[0], searches=used[1], tokens=used[2], cost=used[3]))
    return f'<div class="r-eyebrow">{pill_html(run.status)}{"".join(f"<span>{text(fact)}</span>" for fact in facts)}</div>'
