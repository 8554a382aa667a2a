"""This month's usage by model, tool and run, and its limits."""

from collections.abc import Sequence

import streamlit as st

from rubrica_client import ApiError, organisation
from rubrica_client.models import NewQuota, Quota, Quotas, RunUsage, UsageLine, UsageReport
from ui.components import problem
from ui.components.controls import send_command
from ui.components.markup import escape, escape_for_markdown, hero_html, labelled_html
from ui.components.meters import measure_cap, tile_html
from ui.components.run_list import shorten_question
from ui.facts import count_tokens
from ui.language import say, say_count, say_name, say_time
from ui.number_format import format_count, format_money
from ui.session import get_api, may

DEAREST = 10
DELETED = "deleted"
MICRO = 1_000_000


def main() -> None:
    """Show the month's usage against its limits, then what it was spent on."""
    try:
        used, allowed = get_api().send(organisation.usage()), get_api().send(organisation.quotas())
    except ApiError as error:
        problem.show(error)
        return
    month = say(
        "usage.lead", runs=say_count("asking", used.total.runs), since=f"{used.since:%Y-%m-%d}", until=f"{used.until:%Y-%m-%d}"
    )
    st.html(hero_html(say("usage.title"), month))
    st.html(_tiles_html(used, allowed))
    if may("organisation:write"):
        with st.popover(say("usage.limits"), icon=":material/speed:"):
            _show_limits(allowed.organisation)
    if used.lines:
        st.html(labelled_html(say("usage.went_to"), _lines_html(used.lines)))
    if used.runs:
        st.html(f'<h2 class="r-label" style="margin-top:1.6rem">{escape(say("usage.dearest"))}</h2>')
    for run in sorted(used.runs, key=lambda run: (-run.cost_microusd, -count_tokens(run)))[:DEAREST]:
        _show_run(run)


def _tiles_html(used: UsageReport, allowed: Quotas) -> str:
    quota, spent = allowed.organisation, allowed.used
    tiles = (
        tile_html(
            say("meter.cost"),
            format_money(used.total.cost_microusd),
            *measure_cap(spent.cost_microusd, quota.cost_microusd_per_month, format_money),
        ),
        tile_html(
            say("meter.tokens"), format_count(used.total.tokens), *measure_cap(spent.tokens, quota.tokens_per_month, format_count)
        ),
        tile_html(say("usage.under_way"), str(spent.runs), *measure_cap(spent.runs, quota.concurrent_runs, str)),
        tile_html(
            say("usage.requests"), say("usage.no_limit") if quota.requests_per_minute is None else str(quota.requests_per_minute)
        ),
    )
    return f'<div class="r-meters">{"".join(tiles)}</div>'


def _show_limits(quota: Quota) -> None:
    st.caption(say("usage.limits_help"))
    none, cost_limit = say("usage.no_limit"), quota.cost_microusd_per_month
    dollars = None if cost_limit is None else cost_limit / MICRO
    cost = st.number_input(say("usage.cost"), 0.0, None, dollars, 10.0, key="quota_cost", placeholder=none)
    tokens = st.number_input(say("usage.tokens"), 0, None, quota.tokens_per_month, 100_000, key="quota_tokens", placeholder=none)
    runs = st.number_input(say("usage.at_once"), 0, None, quota.concurrent_runs, 1, key="quota_runs", placeholder=none)
    asked = st.number_input(say("usage.requests"), 1, None, quota.requests_per_minute, 10, key="quota_requests", placeholder=none)
    if not st.button(say("usage.set"), key="quota_set", type="primary"):
        return
    new = NewQuota(
        requests_per_minute=asked,
        concurrent_runs=runs,
        tokens_per_month=tokens,
        cost_microusd_per_month=None if cost is None else round(cost * MICRO),
    )
    if send_command(lambda: get_api().send(organisation.set_quota(new)), say("usage.set_done")):
        st.rerun()


def _lines_html(lines: Sequence[UsageLine]) -> str:
    rows = "".join(
        f"<tr><td>{escape(_name_line(line))}</td><td>{escape(say_name('used', line.kind))}</td>"
        f"<td>{'–' if line.kind == DELETED else f'{line.calls:,}'}</td>"
        f"<td>{format_count(line.input_tokens + line.output_tokens)}</td><td>{format_money(line.cost_microusd)}</td></tr>"
        for line in lines
    )
    heads = "".join(
        f"<th>{escape(say(key))}</th>" for key in ("usage.name", "usage.kind", "usage.calls", "meter.tokens", "meter.cost")
    )
    return f'<table class="r-table"><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table>'


def _name_line(line: UsageLine) -> str:
    """Return the name of a model or a tool. Of what was deleted only the number of runs is known, which `calls` holds."""
    return say_count("asking", line.calls) if line.kind == DELETED else line.name


def _show_run(run: RunUsage) -> None:
    with st.container(border=True, key=f"row_{run.run_id}", gap="xsmall"):
        st.page_link("views/read.py", label=escape_for_markdown(shorten_question(run.question)), query_params={"run": run.run_id})
        facts = (
            *((say("usage.second"),) if run.made_for else ()),
            say_time(run.created_at, "short"),
            say_count("call", run.model_calls),
            say_count("search", run.tool_calls),
            say("ask.tokens_likely", tokens=format_count(count_tokens(run))),
            format_money(run.cost_microusd),
        )
        st.html(f'<div class="r-eyebrow">{"".join(f"<span>{escape(fact)}</span>" for fact in facts)}</div>')


main()
