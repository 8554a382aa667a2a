"""What was used: by run, from what each run says of itself."""

import streamlit as st

from ui.api_client import ApiProblem
from ui.components import problem
from ui.components.markup import text
from ui.components.meters import tile
from ui.components.run_list import run_rows
from ui.figures import compact, money
from ui.language import count, say
from ui.session import api

NEWEST = 100


def main() -> None:
    """Sums over the newest runs, and those runs by cost."""
    st.html(f'<div class="r-hero"><h1>{text(say("usage.title"))}</h1></div>')
    try:
        runs = api().runs(limit=NEWEST).items
    except ApiProblem as error:
        problem.show(error)
        return
    if not runs:
        st.html(f'<p class="r-lead">{text(say("history.empty"))}</p>')
        return
    st.html(f'<p class="r-lead">{text(say("usage.lead", runs=count("asking", len(runs))))}</p>')
    tiles = (
        tile(say("meter.cost"), money(sum(run.usage.cost_microusd for run in runs))),
        tile(say("meter.tokens"), compact(sum(run.usage.tokens for run in runs))),
        tile(say("meter.calls"), compact(sum(run.usage.model_calls for run in runs))),
        tile(say("meter.searches"), compact(sum(run.usage.tool_calls for run in runs))),
    )
    st.html(f'<div class="r-meters">{"".join(tiles)}</div>')
    st.html(f'<h2 class="r-label" style="margin-top:1.6rem">{text(say("usage.dearest"))}</h2>')
    run_rows(sorted(runs, key=lambda run: (-run.usage.cost_microusd, -run.usage.tokens))[:10])


main()
