"""A sentence for each event of a run's log."""

from collections.abc import Callable, Sequence

from rubrica_client.models import RunEvent
from ui.language import say, say_count, say_name
from ui.number_format import format_count

LONGEST_QUOTE = 90


def quote_text(text: str) -> str:
    """Return a query in quotation marks, shortened if it would fill the line."""
    text = " ".join(text.split())
    return f"“{text if len(text) <= LONGEST_QUOTE else text[: LONGEST_QUOTE - 1].rstrip() + '…'}”"


def action_of(event: RunEvent) -> str:
    """Return what an agent did in a model or tool call, as a short phrase."""
    payload = event.payload
    if event.type == "model_call":
        return say_name("step", str(payload.get("step") or "thinking"))
    tool = say_name("tool", str(payload.get("tool") or "tool"))
    if payload.get("error"):
        return say("log.tool_failed", tool=tool, error=payload["error"])
    if payload.get("compare"):
        return say("log.compared", texts=payload["compare"])
    if payload.get("rate"):
        return say("log.rated", texts=payload["rate"])
    if payload.get("url"):
        return say("log.read", url=payload["url"])
    results = payload.get("results")
    found = say("log.found", results=say_count("result", results)) if isinstance(results, int) else ""
    query = str(payload.get("query") or "")  # erased if the run read a document that was deleted
    return f"{tool} {quote_text(query)}{found}" if query else f"{tool}{found}"


def line_of(event: RunEvent) -> str:
    """Return an event as one line of the log."""
    writer = SENTENCES.get(event.type)
    return writer(event) if writer else event.type.replace("_", " ")


def _read_text(event: RunEvent, name: str) -> str:
    return str(event.payload.get(name) or "")


def _add_detail(line: str, event: RunEvent) -> str:
    return say("log.detail", said=line, detail=_read_text(event, "detail")) if event.payload.get("detail") else line


def _describe_model_call(event: RunEvent) -> str:
    tokens = int(event.payload.get("input_tokens", 0)) + int(event.payload.get("output_tokens", 0))
    return say("log.asked_model", model=_read_text(event, "model"), action=action_of(event), tokens=format_count(tokens))


def _describe_status(event: RunEvent) -> str:
    reason = _read_text(event, "reason")
    line = say_name("status", _read_text(event, "status"))
    return _add_detail(say("log.detail", said=line, detail=say_name("reason", reason)) if reason else line, event)


def _describe_stage_end(event: RunEvent) -> str:
    stop = _read_text(event, "stop") or "sufficient"
    line = say("log.finished") if stop == "sufficient" else say("log.finished_why", why=say_name("stop", stop))
    return _add_detail(line, event)


def _describe_stage_start(event: RunEvent) -> str:
    attempt = int(event.payload.get("attempt", 1))
    line = say("log.started") if attempt == 1 else say("log.goes_on", attempt=attempt)
    return say("log.detail", said=line, detail=_read_text(event, "title")) if event.payload.get("title") else line


def _describe_plan(key: str) -> Callable[[RunEvent], str]:
    return lambda event: say(key, subtasks=say_count("subtask", len((event.payload.get("plan") or {}).get("subtasks", ()))))


def _describe_outline(event: RunEvent) -> str:
    return say("log.outlined", sections=say_count("section", len(event.payload.get("sections") or ())))


def _describe_report(event: RunEvent) -> str:
    counts = (say_count(noun, int(event.payload.get(f"{noun}s", 0))) for noun in ("word", "section", "citation"))
    return say("log.report", counts=say("log.comma").join(counts))


def _describe_question(event: RunEvent) -> str:
    asked = say("log.question", question=quote_text(_read_text(event, "question")))
    collections = event.payload.get("collections")
    return say("log.detail", said=asked, detail=say_searched(collections, event.payload.get("corpora"))) if collections else asked


def say_searched(collections: Sequence[str], corpora: object, kinds: Sequence[str] = ()) -> str:
    """Return what a run searches: collections, the default corpus where `corpora` is true, and kinds of sources outside."""
    parts = [say("ask.searched_own", name=name) for name in collections]
    parts += [say("ask.searched_corpora")] if corpora else []
    parts += [say_name("sources", kind) for kind in kinds]
    return say("ask.searched", what=say("log.comma").join(parts))


def _describe_wait(event: RunEvent) -> str:
    if silent := event.payload.get("silent_s"):
        return say("log.silent", silent=f"{silent:.0f}")
    return say("log.waiting", detail=_read_text(event, "detail") or _read_text(event, "what"))


SENTENCES: dict[str, Callable[[RunEvent], str]] = {
    "run_created": _describe_question,
    "status_changed": _describe_status,
    "stage_started": _describe_stage_start,
    "stage_finished": _describe_stage_end,
    "plan_made": _describe_plan("log.planned"),
    "plan_revised": _describe_plan("log.replanned"),
    "model_call": _describe_model_call,
    "tool_call": action_of,
    "waiting": _describe_wait,
    "note_added": lambda e: say("log.noted", text=quote_text(_read_text(e, "text"))),
    "budget_changed": lambda e: say("log.budget"),
    "warning": lambda e: say("log.warning", message=_read_text(e, "message")),
    "rubric_drafted": lambda e: say("log.rubric", criteria=int(e.payload.get("criteria", 0))),
    "rubric_edited": lambda e: say("log.rubric_edited", criteria=int(e.payload.get("criteria", 0))),
    "scorecard_ready": lambda e: say("log.scored", judged=int(e.payload.get("judged", 0)), of=int(e.payload.get("criteria", 0))),
    "outline_made": _describe_outline,
    "section_written": lambda e: say("log.section_written", heading=_read_text(e, "heading")),
    "report_ready": _describe_report,
    "gap": lambda e: say("log.gap"),
}
