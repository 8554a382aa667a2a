"""Which way of writing the organisation's readers prefer, with the interval in which the true share probably lies."""

import streamlit as st

from rubrica_client import ApiError, Client, preferences
from rubrica_client.models import ContestView, Summary
from ui.components import problem
from ui.components.markup import escape, labelled_html
from ui.language import say


def show(client: Client) -> None:
    """Draw a table of the ways that met; nothing before any two have."""
    try:
        summary = client.send(preferences.summary())
    except ApiError as error:
        problem.show(error)
        return
    if summary.contests:
        st.html(labelled_html(say("ways.title"), summary_html(summary)))


def summary_html(summary: Summary) -> str:
    """Return the ways that met as a table, and what the interval means, as HTML."""
    rows = "".join(map(_row_html, summary.contests))
    heads = "".join(f"<th>{escape(say(key))}</th>" for key in ("ways.pair", "ways.won", "ways.votes", "ways.settled"))
    table = f'<table class="r-table"><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table>'
    return f'<div class="r-wide">{table}</div><p class="r-quiet">{escape(say("ways.help"))}</p>'


def _row_html(contest: ContestView) -> str:
    votes = say("ways.counted", wins=contest.wins, losses=contest.losses, ties=contest.ties + contest.both_bad)
    pair = say("ways.against", first=contest.first, second=contest.second)
    cells = (pair, _format_share(contest), votes, contest.settled or say("ways.open"))
    return "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in cells) + "</tr>"


def _format_share(contest: ContestView) -> str:
    if contest.won is None or contest.low is None or contest.high is None:
        return "–"
    return say("ways.share", won=f"{contest.won:.0%}", low=f"{contest.low:.0%}", high=f"{contest.high:.0%}")
