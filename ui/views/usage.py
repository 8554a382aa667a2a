"""This month's usage by model, tool and run, and its limits."""

from collections.abc import Sequence

import streamlit as st

from rubrica_client import ApiError, organisation
from rubrica_client.models import NewQuota, Quota, Quotas, RunUsage, UsageLine, UsageReport
from ui.components import problem
from ui.components.controls import act
from ui.components.markup import hero, labelled, plain, text
from ui.components.meters import capped, tile
from ui.components.run_list import shortened
from ui.facts import count_tokens, may
from ui.figures import compact, money
from ui.language import count, named, say, when
from ui.session import api, me

DEAREST = 10
MICRO = 1_000_000


def main() -> None:
    """Show the month's usage against its limits, then what it was spent on."""
    try:
        used, allowed = api().send(organisation.usage()), api().send(organisation.quotas())
    except ApiError as error:
        problem.show(error)
        return
    month = say(
        "usage.lead", runs=count("asking", used.total.runs), since=f"{used.since:%Y-%m-%d}", until=f"{used.until:%Y-%m-%d}"
    )
    st.html(hero(say("usage.title"), month))
    st.html(_tiles_html(used, allowed))
    who = me()
    if who is None or may(who, "organisation:write"):
        with st.popover(say("usage.limits"), icon=":material/speed:"):
            _limits(allowed.organisation)
    if used.lines:
        st.html(labelled(say("usage.went_to"), _lines_html(used.lines)))
    if used.runs:
        st.html(f'<h2 class="r-label" style="margin-top:1.6rem">{text(say("usage.dearest"))}</h2>')
    for run in sorted(used.runs, key=lambda run: (-run.cost_microusd, -count_tokens(run)))[:DEAREST]:
        _run(run)


def _tiles_html(used: UsageReport, allowed: Quotas) -> str:
    quota, spent = allowed.organisation, allowed.used
    tiles = (
        tile(
            say("meter.cost"), money(used.total.cost_microusd), *capped(spent.cost_microusd, quota.cost_microusd_per_month, money)
        ),
        tile(say("meter.tokens"), compact(used.total.tokens), *capped(spent.tokens, quota.tokens_per_month, compact)),
        tile(say("usage.under_way"), str(spent.runs), *capped(spent.runs, quota.concurrent_runs, str)),
        tile(
            say("usage.requests"), say("usage.no_limit") if quota.requests_per_minute is None else str(quota.requests_per_minute)
        ),
    )
    return f'<div class="r-meters">{"".join(tiles)}</div>'


def _limits(quota: Quota) -> None:
    st.caption(say("usage.limits_help"))
    none, dollars = say("usage.no_limit"), quota.cost_microusd_per_month
    cost = st.number_input(
        say("usage.cost"), 0.01, None, dollars / MICRO if dollars else None, 10.0, key="quota_cost", placeholder=none
    )
    tokens = st.number_input(say("usage.tokens"), 1, None, quota.tokens_per_month, 100_000, key="quota_tokens", placeholder=none)
    runs = st.number_input(say("usage.at_once"), 1, None, quota.concurrent_runs, 1, key="quota_runs", placeholder=none)
    asked = st.number_input(say("usage.requests"), 1, None, quota.requests_per_minute, 10, key="quota_requests", placeholder=none)
    if not st.button(say("usage.set"), key="quota_set", type="primary"):
        return
    new = NewQuota(
        requests_per_minute=asked,
        concurrent_runs=runs,
        tokens_per_month=tokens,
        cost_microusd_per_month=round(cost * MICRO) if cost else None,
    )
    if act(lambda: api().send(organisation.set_quota(new)), say("usage.set_done")):
        st.rerun()


def _lines_html(lines: Sequence[UsageLine]) -> str:
    rows = "".join(
        f"<tr><td>{text(line.name)}</td><td>{text(named('used', line.kind))}</td><td>{line.calls:,}</td>"
        f"<td>{compact(line.input_tokens + line.output_tokens)}</td><td>{money(line.cost_microusd)}</td></tr>"
        for line in lines
    )
    heads = "".join(
        f"<th>{text(say(key))}</th>" for key in ("usage.name", "usage.kind", "usage.calls", "meter.tokens", "meter.cost")
    )
    return f'<table class="r-table"><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table>'


def _run(run: RunUsage) -> None:
    with st.container(border=True, key=f"row_{run.run_id}", gap="xsmall"):
        st.page_link("views/read.py", label=plain(shortened(run.question)), query_params={"run": run.run_id})
        facts = (
            when(run.created_at, "short"),
            count("call", run.model_calls),
            count("search", run.tool_calls),
            say("ask.tokens_likely", tokens=compact(count_tokens(run))),
            money(run.cost_microusd),
        )
        st.html(f'<div class="r-eyebrow">{"".join(f"<span>{text(fact)}</span>" for fact in facts)}</div>')


main()
