"""How things are said on the page: statuses, numbers, and a sentence for each event."""

from datetime import timedelta

from ui.models import Event

STATUS = {
    "queued": "Waiting to start",
    "running": "At work",
    "paused": "Paused",
    "budget_reached": "Budget reached",
    "completed": "Report ready",
    "failed": "Failed",
    "cancelled": "Cancelled",
}
STOP = {
    "sufficient": "enough evidence",
    "max_turns": "reached its turns",
    "max_tool_calls": "reached its searches",
    "max_tokens": "reached its tokens",
    "max_cost": "reached its cost",
    "max_time": "ran out of time",
    "budget": "the run's budget ended it",
    "no_evidence": "found nothing usable",
    "failed": "failed",
    "dropped": "dropped",
}
STEP = {
    "intent": "reading the question",
    "plan": "planning",
    "act": "deciding what to do next",
    "finding": "writing up what was found",
    "outline": "outlining the report",
    "aggregation": "bringing the findings together",
    "section": "writing a section",
    "consistency": "checking the whole for consistency",
}
EFFORT = {"quick": "Quick", "standard": "Standard", "deep": "Deep"}
LANGUAGE = {"en": "English", "zh": "中文"}
LONGEST_QUOTE = 90


def quoted(text: str) -> str:
    """A query in quotation marks, cut where it would fill the line."""
    text = " ".join(text.split())
    return f"“{text if len(text) <= LONGEST_QUOTE else text[: LONGEST_QUOTE - 1].rstrip() + '…'}”"


def plural(n: int, noun: str, nouns: str = "") -> str:
    """`1 search`, `2 searches`."""
    return f"{n:,} {noun if n == 1 else nouns or noun + 's'}"


def money(microusd: int) -> str:
    """Millionths of a US dollar, with the digits that matter: small sums keep four."""
    dollars = microusd / 1_000_000
    return f"${dollars:,.2f}" if dollars >= 1 or microusd % 10_000 == 0 else f"${dollars:.4f}"


def compact(n: int) -> str:
    """A count that fits a tile: 950, 12.3k, 4.5M."""
    if n < 10_000:
        return f"{n:,}"
    short = f"{n / 1_000:.1f}k" if n < 999_950 else f"{n / 1_000_000:.1f}M"
    return short.replace(".0", "")


def clock(elapsed: timedelta) -> str:
    """Elapsed time as m:ss, h:mm:ss, or days and hours."""
    seconds = int(elapsed.total_seconds())
    if elapsed.days:
        return f"{elapsed.days} d {seconds // 3_600 % 24} h"
    hours, minutes = seconds // 3_600, seconds // 60 % 60
    return f"{hours}:{minutes:02}:{seconds % 60:02}" if hours else f"{minutes}:{seconds % 60:02}"


def action(event: Event) -> str:
    """What an agent did in a model or tool call, as a short phrase."""
    payload = event.payload
    if event.type == "model_call":
        step = str(payload.get("step") or "thinking")
        return STEP.get(step, step.replace("_", " "))
    if payload.get("error"):
        return f"{payload.get('tool', 'tool')} failed: {payload['error']}"
    if payload.get("url"):
        return f"read {payload['url']}"
    results = payload.get("results")
    found = f", {plural(results, 'result')}" if isinstance(results, int) else ""
    return f"{payload.get('tool', 'search')} {quoted(str(payload.get('query', '')))}{found}"


def sentence(event: Event) -> str:
    """One line of the log for a reader."""
    said = SENTENCES.get(event.type)
    return said(event) if said else event.type.replace("_", " ")


def _model_call(event: Event) -> str:
    payload = event.payload
    tokens = int(payload.get("input_tokens", 0)) + int(payload.get("output_tokens", 0))
    return f"asked {payload.get('model', 'the model')}: {action(event)} ({compact(tokens)} tokens)"


def _stage_finished(event: Event) -> str:
    payload = event.payload
    stop = str(payload.get("stop") or "sufficient")
    why = "" if stop == "sufficient" else f" ({STOP.get(stop, stop)})"
    detail = f": {payload['detail']}" if payload.get("detail") else ""
    return f"finished{why}{detail}"


def _begun(event: Event) -> str:
    return "started" if int(event.payload.get("attempt", 1)) == 1 else f"goes on, attempt {event.payload['attempt']}"


def _status_changed(event: Event) -> str:
    status = str(event.payload.get("status", ""))
    detail = f": {event.payload['detail']}" if event.payload.get("detail") else ""
    return STATUS.get(status, status) + detail


def _report_ready(event: Event) -> str:
    payload = event.payload
    counts = ", ".join(f"{payload.get(name, 0)} {name}" for name in ("words", "sections", "citations"))
    return f"the report is written: {counts}"


SENTENCES = {
    "run_created": lambda e: f"asked {quoted(str(e.payload.get('question', '')))}",
    "status_changed": _status_changed,
    "stage_started": lambda e: f"{_begun(e)}: {e.payload['title']}" if e.payload.get("title") else _begun(e),
    "stage_finished": _stage_finished,
    "plan_made": lambda e: f"planned {plural(len((e.payload.get('plan') or {}).get('subtasks', ())), 'subtask')}",
    "plan_revised": lambda e: f"the plan is now {plural(len((e.payload.get('plan') or {}).get('subtasks', ())), 'subtask')}",
    "model_call": _model_call,
    "tool_call": action,
    "waiting": lambda e: f"waiting: {e.payload.get('detail') or e.payload.get('what', '')}",
    "note_added": lambda e: f"you noted {quoted(str(e.payload.get('text', '')))}",
    "budget_changed": lambda e: "the budget was changed",
    "warning": lambda e: f"warning: {e.payload.get('message', '')}",
    "report_ready": _report_ready,
}
