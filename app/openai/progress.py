"""Describe what happens in a run, one line for each event, for readers of a stream that has no other place for it."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from app.domain.query import Language
from app.domain.run import EventType, RunStatus


class ProgressWords(NamedTuple):
    """The fixed words of one language."""

    plan: str
    call: str
    failed: str
    found: str
    writing: str
    waiting: str
    silent: str
    note: str
    paused: str
    spent: str
    stopped: str


WORDS = {
    Language.ENGLISH: ProgressWords(
        plan="Plan: {title}",
        call="{tool}: {query} ({results} results)",
        failed="{tool}: {query} ({error})",
        found="{title}: {quotes} quotes",
        writing="Writing the report",
        waiting="Waiting for {what}: {detail}",
        silent="The model has sent nothing for {seconds} s",
        note="Note: {message}",
        paused="Paused by a person",
        spent="The budget is spent",
        stopped="Paused: {detail}",
    ),
    Language.CHINESE: ProgressWords(
        plan="计划：{title}",
        call="{tool}：{query}（{results} 条结果）",
        failed="{tool}：{query}（{error}）",
        found="{title}：{quotes} 处引文",
        writing="正在撰写报告",
        waiting="等待 {what}：{detail}",
        silent="模型已有 {seconds} 秒没有任何输出",
        note="注意：{message}",
        paused="已被暂停",
        spent="预算已用完",
        stopped="已暂停：{detail}",
    ),
}


def describe_event(kind: str, payload: Mapping[str, Any], language: Language) -> str | None:
    """Return a line of Markdown for an event, or None where a reader would not want to know."""
    words = WORDS[language]
    match kind:
        case EventType.PLAN_MADE | EventType.PLAN_REVISED:
            plan = payload["plan"]
            parts = (f"- {subtask['title']}" for subtask in plan["subtasks"])
            return "\n".join([words.plan.format(title=plan.get("title", "")).rstrip(": ："), *parts])
        case EventType.TOOL_CALL if not (payload.get("compare") or payload.get("rate")):
            form = words.failed if payload.get("error") else words.call
            asked = payload.get("query") or payload.get("url") or "…"
            results, error = payload.get("results", 0), payload.get("error", "")
            return form.format(tool=payload["tool"], query=asked, results=results, error=error)
        case EventType.STAGE_FINISHED if str(payload["stage"]).startswith("search/"):
            return words.found.format(title=payload["title"], quotes=payload["quotes"])
        case EventType.STAGE_STARTED if payload["stage"] == "report":
            return words.writing
        case EventType.WAITING if payload.get("silent_s"):
            return words.silent.format(seconds=payload["silent_s"])
        case EventType.WAITING:
            return words.waiting.format(what=payload["what"], detail=payload["detail"])
        case EventType.WARNING:
            return words.note.format(message=payload["message"])
        case EventType.STATUS_CHANGED if payload.get("reason"):
            return words.stopped.format(detail=payload["detail"])
        case EventType.STATUS_CHANGED:
            return {RunStatus.PAUSED.value: words.paused, RunStatus.BUDGET_REACHED.value: words.spent}.get(payload["status"])
        case _:
            return None
