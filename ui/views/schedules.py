"""Schedules: questions that are asked again at set times, and what changed each time."""

from collections.abc import Sequence
from datetime import timedelta
from time import monotonic

import streamlit as st

from rubrica_client import schedules
from rubrica_client.models import Firing, Schedule, ScheduleChange, ShownWords
from ui.components import list_page, safe_fragments
from ui.components.controls import send_command
from ui.components.markup import escape, hero_html, link_html
from ui.components.page_title import name_page
from ui.components.repeat import LONGEST_NAME
from ui.components.run_list import shorten_question
from ui.components.timing import describe_timing
from ui.language import say, say_count, say_name, say_time
from ui.session import get_api, may

PAGE = "views/schedules.py"
REFRESH = timedelta(seconds=2)
LONGEST_START = timedelta(seconds=10)  # how long after a click on `Ask now` the run may take to begin


def main() -> None:
    """Show the schedule in the address with its changes, else all of them."""
    list_page.show(say("schedules.title"), _show_one, _show_all)


def _show_all(before: str | None) -> None:
    page = get_api().send(schedules.list_(before=before))
    st.html(hero_html(say("schedules.title"), say("schedules.lead")))
    if not page.items:
        st.html(f'<p class="r-quiet">{escape(say("schedules.none" if may("schedules:write") else "schedules.none_yet"))}</p>')
    for schedule in page.items:
        list_page.show_row(PAGE, schedule.id, schedule.name, _facts_html(schedule))
    list_page.link_older(PAGE, page.next)


def _facts_html(schedule: Schedule) -> str:
    question = schedule.query.question
    question_html = (
        "" if schedule.name == shorten_question(question, LONGEST_NAME) else f"<p>{escape(shorten_question(question))}</p>"
    )
    following = say("schedules.next", when=say_time(schedule.next_at, "short")) if schedule.next_at else ""
    state = say("schedules.paused") if schedule.paused else following
    facts = "".join(f"<span>{escape(fact)}</span>" for fact in (describe_timing(schedule.timing), state, schedule.detail) if fact)
    return f'{question_html}<div class="r-eyebrow">{facts}</div>'


def _show_one(chosen: str) -> None:
    schedule = get_api().send(schedules.get(chosen))
    name_page(schedule.name, say("nav.schedules"))
    st.html(f'<h1 class="r-question">{escape(schedule.name)}</h1>{_facts_html(schedule)}')
    if may("schedules:write"):
        _show_commands(schedule)
    lively = _is_lively(get_api().send(schedules.changes(schedule.id)).items)
    safe_fragments.make_fragment(_show_firings, run_every=REFRESH if lively else None)(schedule.id, lively)


def _show_commands(schedule: Schedule) -> None:
    with st.container(horizontal=True):
        if st.button(say("schedules.now"), key="trigger", icon=":material/play_arrow:") and send_command(
            lambda: get_api().send(schedules.trigger(schedule.id)), say("schedules.asked")
        ):
            st.session_state["triggered"] = monotonic()
        label, icon = ("steer.resume", ":material/play_arrow:") if schedule.paused else ("steer.pause", ":material/pause:")
        if st.button(say(label), key="pause_schedule", icon=icon) and send_command(
            lambda: get_api().send(schedules.change(schedule.id, ScheduleChange(paused=not schedule.paused))),
            say("schedules.changed"),
        ):
            st.rerun()
        list_page.offer_delete(say("schedules.delete_help"), lambda: get_api().send(schedules.delete(schedule.id)))


def _is_lively(firings: Sequence[Firing]) -> bool:
    """Return whether a run of the schedule is under way, or is about to begin because somebody asked for it."""
    triggered = monotonic() - st.session_state.get("triggered", -LONGEST_START.total_seconds()) < LONGEST_START.total_seconds()
    return triggered or any(firing.outcome == "running" for firing in firings)


def _show_firings(schedule: str, lively: bool) -> None:
    """Draw what changed each time, and refresh it while a run is under way."""
    firings = get_api().send(schedules.changes(schedule)).items
    if lively and not _is_lively(firings):
        st.rerun()
    for firing in firings:
        _show_firing(firing)


def _show_firing(firing: Firing) -> None:
    changed = firing.changes
    changes = {"fallen": changed.fallen, "new_claim": changed.new_claims, "passage": changed.passages}
    changes |= {"new_source": changed.new_sources, "vanished": changed.vanished_sources}
    with st.container(border=True, key=f"firing_{firing.due_at:%Y%m%d%H%M%S}"):
        counts = " · ".join(say_count(kind, len(items)) for kind, items in changes.items() if items)
        title = f"<b>{escape(say_time(firing.due_at, 'short'))}</b> {escape(say_name('firing', firing.outcome))}"
        st.html(f'{title} <span class="r-quiet">{escape(counts or firing.detail)}</span>{changes_html(firing)}')
        with st.container(horizontal=True):
            if firing.run_id:
                st.page_link("views/read.py", label=say("watch.read"), query_params={"run": firing.run_id})
            if firing.baseline_id:
                st.page_link("views/read.py", label=say("schedules.baseline"), query_params={"run": firing.baseline_id})


def changes_html(firing: Firing) -> str:
    """Return the changes as HTML. Old claims that no longer hold come first, because a reader must know them."""
    changed = firing.changes
    fallen = "".join(
        f'<li class="contradicted">{escape(item.claim)}<div class="r-quiet">{escape(say_name("fallen", item.why))}</div>'
        f"{_quotes_html(item.before, 'before')}{_quotes_html(item.after, 'after')}</li>"
        for item in changed.fallen
    )
    new = "".join(f"<li>{escape(item.claim)}{_quotes_html(item.quotes)}</li>" for item in changed.new_claims)
    sources = "".join(f"<li>{link_html(source.url, source.title or source.url)}</li>" for source in changed.new_sources)
    groups = ((say("schedules.fallen"), fallen), (say("schedules.new"), new), (say("schedules.sources"), sources))
    return "".join(f'<h3 class="r-label">{escape(label)}</h3><ul class="r-list">{items}</ul>' for label, items in groups if items)


def _quotes_html(quotes: Sequence[ShownWords], when: str = "") -> str:
    when_html = f"<b>{escape(say(f'schedules.{when}'))}</b> " if when else ""
    return "".join(
        f'<blockquote class="r-quiet">{when_html}{escape(quote.text)}'
        f" — {link_html(quote.url, quote.title or quote.url)}</blockquote>"
        for quote in quotes
    )


main()
