"""What a person sees while a run goes on."""

from datetime import UTC, datetime

import pytest

from infra.cli.display import PlainLines
from infra.cli.progress import LONGEST_QUERY, RunProgress, StageLine, StageState
from rubrica_client.models import EventType, RunEvent, RunStatus
from tests.support.scripted_api import RUN_ID, make_run_events
from ui.sentences import action_of


def events(status: str = "completed") -> list[RunEvent]:
    whole = enumerate(make_run_events(status), 1)
    return [
        RunEvent(
            run_id=RUN_ID,
            seq=n,
            type=EventType(kind),
            agent=agent,
            payload=payload,
            at=datetime(2026, 1, 1, 0, 0, n, tzinfo=UTC),
        )
        for n, (kind, agent, payload) in whole
    ]


def test_progress_counts_calls_tokens_cost_sources_and_time() -> None:
    progress = RunProgress()
    for event in events():
        progress.apply(event)
    assert (progress.model_calls, progress.tool_calls, progress.tokens, progress.cost_microusd) == (2, 1, 2_000, 3_000)
    assert progress.sources == {"http://example.org/t": "T"}
    assert progress.elapsed_s == 12
    assert progress.status is RunStatus.COMPLETED


def test_stages_stand_in_the_plans_order_with_their_state() -> None:
    progress = RunProgress()
    for event in events()[:9]:
        progress.apply(event)
    assert list(progress.stages) == ["plan", "search/s1", "search/s2", "report"]
    states = [stage.state for stage in progress.stages.values()]
    assert states == [StageState.RUNNING, StageState.DONE, StageState.WAITING, StageState.WAITING]
    assert progress.stages["search/s1"].quotes == 3


def test_a_revised_plan_keeps_what_is_known_and_drops_what_is_gone() -> None:
    progress = RunProgress()
    before = events()[:9]
    for event in before:
        progress.apply(event)
    plan = {"plan": {"subtasks": [{"id": "s3", "title": "New"}, {"id": "s1", "title": "Revenue"}]}}
    progress.apply(before[3].model_copy(update={"type": EventType.PLAN_REVISED, "payload": plan, "seq": 10}))
    assert list(progress.stages) == ["plan", "search/s3", "search/s1", "report"]
    assert progress.stages["search/s1"].state is StageState.DONE


def test_plain_lines_tell_the_story() -> None:
    lines: list[str] = []
    shown, progress = PlainLines(lines.append), RunProgress()
    for event in events():
        progress.apply(event)
        shown.show(progress, event)
    text = "\n".join(lines)
    for expected in (
        "[   1.0 s] running",
        "plan: 2 subtasks",
        "- Protection",
        "Revenue: search: tariff -> 2 results",
        "waiting: the model is overloaded; next try in 4 s",
        "Revenue: done, 3 quotes, sufficient",
        "1 source · 1 model and 1 tool call · 1,000 tokens · US$ 0.0015",
        "report: 2 sections, 1 citation, 200 words",
        "completed because",
    ):
        assert expected in text, expected


def test_a_silent_model_is_told_with_what_follows() -> None:
    told = {"what": "model", "detail": "the model has sent nothing for 20 s", "retry_in_s": 220.4, "silent_s": 20}
    silent = events()[6].model_copy(update={"type": EventType.WAITING, "payload": told})
    progress, lines = RunProgress(), list[str]()
    progress.apply(silent)
    PlainLines(lines.append).show(progress, silent)
    assert lines[-1].endswith("waiting: the model has sent nothing for 20 s; asked once more after 220 s more")


@pytest.mark.parametrize("words", ["tariffs and revenue ", "关税"])
def test_a_long_query_is_cut_and_an_address_is_whole(words: str) -> None:
    progress, event = RunProgress(), events()[6]
    progress.stages["search/s1"] = StageLine("S")
    progress.apply(event.model_copy(update={"payload": {"tool": "search", "query": words * 100}}))
    assert progress.stages["search/s1"].last == f"search: {(words * 100)[:LONGEST_QUERY].rstrip()} …"
    url = "https://example.org/" + "a" * 300
    progress.apply(event.model_copy(update={"payload": {"tool": "browse", "url": url}}))
    assert progress.stages["search/s1"].last == f"browse: {url}"


def test_text_from_outside_cannot_command_the_terminal() -> None:
    progress = RunProgress()
    hostile = "title \x1b[2J\x1b]0;gone\x07\r\n second line \x9b31m"
    found = {"tool": "search", "query": hostile, "sources": [{"title": hostile, "url": "u"}]}
    event = events()[6]
    progress.apply(event.model_copy(update={"payload": found}))
    lines: list[str] = []
    progress.stages["search/s1"] = StageLine("S")
    progress.apply(event.model_copy(update={"payload": found}))
    PlainLines(lines.append).show(progress, event)
    assert progress.sources["u"] == "title [2J ]0;gone second line 31m"
    assert all(c.isprintable() for c in "".join(lines))
    assert "[2J" in lines[0]


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ({"compare": 40}, "compared 40 texts with the question by meaning"),
        ({"rate": 45}, "rated how well 45 texts answer the question"),
    ],
)
def test_texts_that_were_judged_are_no_search(arguments: dict[str, int], told: str) -> None:
    payload = {"tool": "search", "query": "Who paid?", "results": 0, **arguments}
    progress, lines = RunProgress(), list[str]()
    judged = events()[6].model_copy(update={"payload": payload})
    progress.apply(judged)
    PlainLines(lines.append).show(progress, judged)
    assert lines[-1].endswith(told)
    assert action_of(judged) == told
