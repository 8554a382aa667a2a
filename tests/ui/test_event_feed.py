"""The feed over a real socket: it misses nothing when the stream is cut, and stops when nobody looks."""

import time
from collections.abc import Callable
from datetime import timedelta

from tests.support.patience import PATIENCE_S
from tests.ui.example_runs import QUESTION, add_finished_run, add_searching_run
from tests.ui.fake_api import FakeApi, FakeRun
from ui.event_feed import EventFeed

LONG = timedelta(seconds=PATIENCE_S)


def until(true: Callable[[], bool]) -> None:
    """Wait for a condition; a test that waits in vain fails."""
    while not true():
        time.sleep(0.02)


def test_a_stream_that_is_cut_again_and_again_loses_and_repeats_nothing(api: FakeApi) -> None:
    run = add_finished_run(api)
    api.cut_stream_after = 4
    feed = EventFeed(api.url, {}, run.id)
    until(lambda: feed.look().ended)
    assert [event.seq for event in feed.look().events] == list(range(1, len(run.events) + 1))
    assert api.streams_opened_after == [0, 4, 8, 12]


def test_new_events_show_up_while_the_stream_is_open(api: FakeApi) -> None:
    run = api.add(FakeRun(QUESTION))
    run.emit("run_created", {"question": QUESTION})
    feed = EventFeed(api.url, {}, run.id)
    assert len(feed.look(LONG).events) == 1
    run.emit("note_added", {"text": "later"})
    until(lambda: len(feed.look().events) == 2)
    assert api.streams_opened_after == [0]


def test_trouble_is_shown_and_goes_away(api: FakeApi) -> None:
    run = add_searching_run(api)
    api.fail("/events", 503, "Busy", "come back later")
    feed = EventFeed(api.url, {}, run.id)
    problem = feed.look(LONG).problem
    assert problem is not None
    assert problem.title == "Busy"
    api.failures.clear()
    until(lambda: len(feed.look().events) == len(run.events))
    assert feed.look().problem is None


def test_it_stops_when_nobody_looks_and_goes_on_where_it_was(api: FakeApi) -> None:
    run = add_searching_run(api)
    feed = EventFeed(api.url, {}, run.id, idle=timedelta(seconds=2))
    until(lambda: len(feed.look().events) == len(run.events))
    until(lambda: not feed.following)
    run.emit("note_added", {"text": "meanwhile"})
    until(lambda: len(feed.look().events) == len(run.events))
    assert api.streams_opened_after == [0, len(run.events) - 1]


def test_it_ends_with_the_run(api: FakeApi) -> None:
    run = add_finished_run(api)
    feed = EventFeed(api.url, {}, run.id)
    until(lambda: feed.look().ended)
    until(lambda: not feed.following)
    feed.look()
    assert not feed.following
    assert api.streams_opened_after == [0]


def test_it_ends_with_a_finished_run_whose_events_have_expired(api: FakeApi) -> None:
    run = api.add(FakeRun(QUESTION, status="completed"))
    run.emit("gap", {"after": 0, "next": 2})
    feed = EventFeed(api.url, {}, run.id)
    until(lambda: feed.look().ended)
    until(lambda: not feed.following)
    assert api.streams_opened_after == [0]
