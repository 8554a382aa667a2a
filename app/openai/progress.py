"""What happens in a run, a line an event, for readers of a stream that has no other place for it."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from app.domain.query import Language
from app.domain.run import EventType, RunStatus


class Words(NamedTuple):
    """Fixed words of one language."""

    plan: str
    call: str
    failed: str
    found: str
    writing: str
    waiting: str
    note: str
    paused: str
    spent: str


WORDS = {
    Language.ENGLISH: Words(
        *("Plan: {title}", "{tool}: {query} ({results} results)", "{tool}: {query} ({error})", "{title}: {quotes} quotes"),
        *("Writing the report", "Waiting for {what}: {detail}", "Note: {message}", "Paused by a person", "The budget is spent"),
    ),
    Language.CHINESE: Words(
        *("计划：{title}", "{tool}：{query}（{results} 条结果）", "{tool}：{query}（{error}）", "{title}：{quotes} 处引文"),
        *("正在撰写报告", "等待 {what}：{detail}", "注意：{message}", "已被暂停", "预算已用完"),
    ),
}


def progress(kind: str, payload: Mapping[str, Any], language: Language) -> str | None:
    """A line of Markdown for an event, or None where there is nothing a reader would want to know."""
    words = WORDS[language]
    match kind:
        case EventType.PLAN_MADE | EventType.PLAN_REVISED:
            plan = payload["plan"]
            parts = (f"- {subtask['title']}" for subtask in plan["subtasks"])
            return "\n".join([words.plan.format(title=plan.get("title", "")).rstrip(": ："), *parts])
        case EventType.TOOL_CALL:
            form = words.failed if payload.get("error") else words.call
            asked = payload.get("query") or payload.get("url") or "…"
            told = {"results": payload.get("results", 0), "error": payload.get("error", "")}
            return form.format(tool=payload["tool"], query=asked, **told)
        case EventType.STAGE_FINISHED if str(payload["stage"]).startswith("search/"):
            return words.found.format(title=payload["title"], quotes=payload["quotes"])
        case EventType.STAGE_STARTED if payload["stage"] == "report":
            return words.writing
        case EventType.WAITING:
            return words.waiting.format(what=payload["what"], detail=payload["detail"])
        case EventType.WARNING:
            return words.note.format(message=payload["message"])
        case EventType.STATUS_CHANGED:
            return {RunStatus.PAUSED.value: words.paused, RunStatus.BUDGET_REACHED.value: words.spent}.get(payload["status"])
        case _:
            return None
