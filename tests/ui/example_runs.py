"""Makes runs to show on the page: one in the middle of its searches, one that has finished."""

import hashlib

from tests.ui.fake_api import FakeApi, FakeRun, Json

QUESTION = "How did presidents justify tariffs before 1900?"
SPEECH = (
    "Fellow-Citizens of the Senate and House of Representatives:\n\n"
    "The revenue of the year has again exceeded the wants of the Government. "
    "The general rule to be applied in graduating the duties upon articles of foreign growth or manufacture is that which will "
    "place our own in fair competition with those of other countries. The inducements to advance even a step beyond this point "
    "are controlling in regard to those articles which are of primary necessity in time of war.\n\n"
    "No other subject deserves more of your care."
)
SNAPSHOT = hashlib.sha256(SPEECH.encode()).hexdigest()
QUOTE = SPEECH[SPEECH.index("The general rule") : SPEECH.index(" The inducements")]
SOURCE: Json = {
    "title": "Andrew Jackson, Annual Message, 8 December 1829",
    "url": "https://example.org/sotu/1829",
    "snapshot": SNAPSHOT,
}
PLAN: Json = {
    "intent": "Explain the arguments presidents gave for tariffs, and how they changed.",
    "title": "Tariffs before 1900",
    "revision": 1,
    "subtasks": [
        {"id": "s1", "title": "The first revenue tariffs", "question": "Why did the first presidents ask for duties on imports?"},
        {"id": "s2", "title": "Protection of manufactures", "question": "How was protection argued from 1816 to 1861?"},
        {
            "id": "s3",
            "title": "What changed in between",
            "question": "Which arguments were given up, and when?",
            "depends_on": ["s1", "s2"],
        },
    ],
}


def add_searching_run(api: FakeApi) -> FakeRun:
    """Add a planned run: one search done, one running, one waiting for both."""
    run = api.add(FakeRun(QUESTION, budget={"max_tokens": 200_000, "max_cost_microusd": 500_000, "max_seconds": 600}))
    run.fields["usage"] = {
        "model_calls": 7,
        "tool_calls": 4,
        "input_tokens": 41_200,
        "output_tokens": 3_900,
        "cost_microusd": 61_000,
    }
    run.emit("run_created", {"question": QUESTION, "system": "minddr", "effort": "standard", "language": "en"})
    run.emit("status_changed", {"status": "running", "detail": ""})
    run.emit("stage_started", {"stage": "plan", "title": "Plan"}, "plan")
    _ask(run, "plan", "plan")
    run.emit("plan_made", {"plan": PLAN}, "plan")
    run.emit(
        "stage_finished",
        {"stage": "plan", "title": "Plan", "stop": "sufficient", "detail": "", "quotes": 0, "sources": 0, "usage": {}},
    )
    for subtask in ("s1", "s2"):
        run.emit("stage_started", {"stage": f"search/{subtask}", "title": subtask}, f"search/{subtask}")
    _search(run, "search/s1", "duties on imports first Congress", [SOURCE])
    _ask(run, "search/s1", "act")
    run.emit(
        "stage_finished",
        {"stage": "search/s1", "title": "", "stop": "max_turns", "detail": "", "quotes": 3, "sources": 2, "usage": {}},
        "search/s1",
    )
    _search(
        run,
        "search/s2",
        "protection of <b>domestic</b> manufactures",
        [SOURCE, {"title": "James Monroe, 1822", "url": "https://example.org/sotu/1822"}],
    )
    return run


def add_finished_run(api: FakeApi) -> FakeRun:
    """Add a run with its report."""
    run = add_searching_run(api)
    run.emit("stage_started", {"stage": "report", "title": "Report"}, "report")
    run.emit("report_ready", {"sections": 2, "citations": 2, "words": 58, "unresolved_citations": 0}, "report")
    run.emit("status_changed", {"status": "completed", "detail": ""})
    api.snapshots[SNAPSHOT] = SPEECH
    run.report = {
        "run_id": run.id,
        "status": "completed",
        "title": "Tariffs before 1900",
        "markdown": MARKDOWN,
        "citations": make_citations(),
        "claims": make_claims(),
    }
    return run


def make_claims() -> list[Json]:
    """Make one supported claim, one that its citation does not quite say, one opposed."""
    first = "Duties were to put home products in fair competition with foreign ones, with an exception for what is needed in war."
    return [
        {"text": first, "citations": [1, 2], "support": "full"},
        {"text": "1829", "citations": [1], "support": "partial", "reason": "The message names no year."},
        {
            "text": "Nothing supports [9], and <script>alert(1)</script> is text.",
            "citations": [2],
            "support": "contradicted",
            "reason": "It says <b>more</b>.",
        },
    ]


def make_citations() -> list[Json]:
    """Make two citations of one source."""
    start = SPEECH.index(QUOTE)
    war = "articles which are of primary necessity in time of war"
    return [
        {"n": 1, "quote": QUOTE, "start": start, "end": start + len(QUOTE), "source": SOURCE},
        {"n": 2, "quote": war, "start": SPEECH.index(war), "end": SPEECH.index(war) + len(war), "source": SOURCE},
    ]


MARKDOWN = """# Tariffs before 1900

*Question: How did presidents justify tariffs before 1900?*

Duties were to put home products in fair competition with foreign ones [1], with an exception for what is needed in war [2].

## Limits

Nothing supports [9], and <script>alert(1)</script> is text.

| Year | Argument |
|---|---|
| 1829 | competition [1] |

## Sources

1. Andrew Jackson, Annual Message, 8 December 1829
"""


def _ask(run: FakeRun, agent: str, step: str) -> None:
    run.emit(
        "model_call", {"step": step, "model": "stub", "input_tokens": 5_000, "output_tokens": 400, "cost_microusd": 8_000}, agent
    )


def _search(run: FakeRun, agent: str, query: str, sources: list[Json]) -> None:
    shown = [{"title": s["title"], "url": s["url"]} for s in sources]
    run.emit("tool_call", {"tool": "search", "query": query, "results": 8, "sources": shown, "error": ""}, agent)
