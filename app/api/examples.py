"""Examples in the OpenAPI document: one run, from its question to a citation."""

from typing import Any

QUESTION = "How did presidents justify tariffs before 1900?"
RUN_ID = "6f9619ff-8b86-4d01-b42d-00cf4fc964ff"
SNAPSHOT = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
SUBTASK = {
    "id": "revenue",
    "title": "Tariffs as revenue",
    "question": "Which messages before 1900 defend tariffs as a source of revenue?",
    "purpose": "Separates fiscal from protective arguments.",
    "expected_evidence": "Passages that name revenue or the debt next to duties.",
    "depends_on": [],
}
PLAN = {"intent": "Arguments for tariffs, by period", "title": "Justifying tariffs", "subtasks": [SUBTASK], "revision": 1}
QUERY: dict[str, Any] = {
    "question": QUESTION,
    "language": "en",
    "system": "minddr",
    "effort": "standard",
    "collections": [],
    "budget": {"max_tokens": 400_000, "max_cost_microusd": 2_000_000, "max_seconds": 1_800},
    "style": {"length": "short", "tone": None, "audience": "", "format": "table_first"},
    "scope": None,
    "clarified": [],
    "approve_plan": False,
    "rubric": False,
}
USAGE = {"model_calls": 76, "tool_calls": 12, "input_tokens": 181_204, "output_tokens": 24_310, "cost_microusd": 412_000}
RUN = {
    "id": RUN_ID,
    "query": QUERY,
    "status": "completed",
    "detail": "",
    "plan": PLAN,
    "usage": USAGE,
    "budget": QUERY["budget"],
    "created_at": "2026-11-20T15:00:00Z",
    "updated_at": "2026-11-20T15:04:10Z",
    "finished_at": "2026-11-20T15:04:10Z",
    "last_seq": 112,
}
CITATION = {
    "n": 1,
    "quote": "the principal source of our revenue",
    "start": 18_204,
    "end": 18_239,
    "source": {"title": "Third annual message", "url": "sotu:cleveland/1887", "snapshot": SNAPSHOT},
}
CLAIM = {
    "text": "Duties were called the principal source of revenue.",
    "section": "Revenue",
    "citations": [1],
    "support": "full",
    "reason": "",
    "judge": "offline",
    "weak": "",
}
CRITERION = {
    "title": "Revenue and protection",
    "description": "Key Criterion: Tells arguments from revenue apart from arguments for protection.",
    "weight": 5,
}

OF: dict[str, list[Any]] = {
    "NewRun": [
        {"question": QUESTION},
        {"question": QUESTION, "effort": "deep", "budget": {"max_cost_microusd": 2_000_000}},
        {"question": QUESTION, "length": "short", "format": "table_first", "published_to": "1899-12-31", "sources": ["corpora"]},
    ],
    "Run": [RUN],
    "Criterion": [CRITERION],
    "EditedRubric": [{"criteria": [CRITERION]}],
    "Estimate": [
        {
            "tokens": {"low": 90_000, "likely": 180_000, "high": 410_000},
            "cost_microusd": {"low": 100_000, "likely": 201_000, "high": 459_000},
            "seconds": {"low": 70, "likely": 160, "high": 420},
            "runs": 14,
            "model": "a-model",
            "within_budget": True,
        }
    ],
    "RunPage": [{"items": [RUN], "next": None}],
    "Budget": [{"max_tokens": 400_000, "max_cost_microusd": 2_000_000, "max_seconds": 1_800}],
    "ResearchPlan": [PLAN],
    "Subtask": [SUBTASK],
    "Resumption": [{"finish": True}],
    "NewNote": [{"text": "Give more weight to messages after 1880."}],
    "AddedNote": [{"seq": 57, "text": "Give more weight to messages after 1880."}],
    "RunEvent": [
        {
            "run_id": RUN_ID,
            "seq": 17,
            "type": "tool_call",
            "agent": "search/revenue",
            "payload": {"tool": "search", "query": "tariff revenue debt", "results": 8, "sources": [], "error": ""},
            "at": "2026-11-20T15:00:07Z",
        }
    ],
    "ReportView": [
        {
            "run_id": RUN_ID,
            "question": QUESTION,
            "status": "completed",
            "title": "Justifying tariffs",
            "markdown": "# Justifying tariffs\n\nDuties were called the principal source of revenue [1].\n",
            "html": "<!doctype html><title>Justifying tariffs</title>",
            "citations": [CITATION],
            "claims": [CLAIM],
            "notices": [],
            "usage": USAGE,
            "created_at": "2026-11-20T15:04:10Z",
        }
    ],
    "NewResponse": [{"model": "minddr-quick", "input": QUESTION, "background": True}],
    "NewChatCompletion": [{"model": "minddr-quick", "messages": [{"role": "user", "content": QUESTION}], "stream": True}],
    "Health": [{"ok": True, "version": "0.1.0", "parts": {"database": {"ok": True, "detail": ""}}}],
}
