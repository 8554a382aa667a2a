"""What a run's tokens went to: planning, reading, writing, going over the report, judging."""

import streamlit as st

from rubrica_client import ApiError, Client, runs
from rubrica_client.models import PurposePage, Run
from ui.components import problem
from ui.components.markup import escape
from ui.language import say, say_name
from ui.number_format import format_count
from ui.session import ask_once


def show(client: Client, run: Run) -> None:
    """Draw one line with the tokens of each purpose; nothing before the first call of a model."""
    if not run.usage.model_calls:
        return
    try:
        used = ask_once("purposes", (run.id, run.usage.model_calls), lambda: client.send(runs.usage(run.id)))
    except ApiError as error:
        problem.show(error)
        return
    if used.items:
        st.html(purposes_html(used))


def purposes_html(used: PurposePage) -> str:
    """Return the line as HTML, in the order of the work."""
    parts = [
        say("meter.share", purpose=say_name("purpose", item.purpose), tokens=format_count(item.input_tokens + item.output_tokens))
        for item in used.items
    ]
    return f'<p class="r-quiet">{escape(say("meter.went_to", parts=" · ".join(parts)))}</p>'
