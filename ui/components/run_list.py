"""A list of runs, each with a link to its page."""

from collections.abc import Callable, Sequence

import streamlit as st

from rubrica_client.models import Run
from ui.components.markup import escape, escape_for_markdown
from ui.components.run_header import pill_html
from ui.facts import count_tokens
from ui.language import say, say_count, say_name, say_time
from ui.number_format import format_count, format_elapsed, format_money

LONGEST_TITLE = 140


def show_run_rows(runs: Sequence[Run], more: Callable[[Run], None] | None = None) -> None:
    """Draw a row for each run: its question as a link, its state and usage, and at the end what `more` draws."""
    for run in runs:
        with st.container(border=True, key=f"row_{run.id}", gap="xsmall"):
            with st.container(horizontal=True, vertical_alignment="center", gap="small"):
                st.page_link(
                    page_of(run),
                    label=escape_for_markdown(shorten_question(run.query.question)),
                    query_params={"run": run.id},
                    width="stretch",
                )
                if more:
                    more(run)
            st.html(row_html(run))


def page_of(run: Run) -> str:
    """Return the best page for a run: its report if there is one, else its progress."""
    return "views/read.py" if run.status == "completed" else "views/watch.py"


def shorten_question(question: str, longest: int = LONGEST_TITLE) -> str:
    """Return the question on one line, cut to `longest` characters."""
    question = " ".join(question.split())
    return question if len(question) <= longest else question[:longest].rstrip() + "…"


def row_html(run: Run) -> str:
    """Return the status, the time, the duration and the usage as HTML."""
    usage = run.usage
    used = (
        say_count("call", usage.model_calls),
        say_count("search", usage.tool_calls),
        format_count(count_tokens(usage)),
        format_money(usage.cost_microusd),
    )
    facts = [say_name("system", run.query.system), say_time(run.created_at, "short")]
    if run.finished_at:
        facts.append(say("history.took", time=format_elapsed(run.finished_at - run.created_at)))
    facts.append(say("history.used", calls=used[0], searches=used[1], tokens=used[2], cost=used[3]))
    return f'<div class="r-eyebrow">{pill_html(run.status)}{"".join(f"<span>{escape(fact)}</span>" for fact in facts)}</div>'
