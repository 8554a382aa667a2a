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
    "unsourced": False,
}
CRITERION = {
    "title": "Revenue and protection",
    "description": "Key Criterion: Tells arguments from revenue apart from arguments for protection.",
    "weight": 5,
}

WEBHOOK_ID = "0b8f5d1a-3c77-4a2f-9d4e-6a51f0c7b9e2"
DELIVERY_ID = "c1f2a8d4-90ab-4c3b-8e57-2f6d1b0e9a73"
WEBHOOK = {
    "id": WEBHOOK_ID,
    "url": "https://hooks.example.org/rubrica",
    "description": "tells the desk",
    "events": ["run.completed", "run.failed"],
    "enabled": True,
    "disabled_reason": "",
    "failing_since": None,
    "created_at": "2026-11-20T15:00:00Z",
}
DELIVERY = {
    "id": DELIVERY_ID,
    "webhook_id": WEBHOOK_ID,
    "type": "run.completed",
    "state": "delivered",
    "attempts": 1,
    "status": 204,
    "error": "",
    "created_at": "2026-11-20T15:04:10Z",
    "next_attempt_at": None,
    "delivered_at": "2026-11-20T15:04:11Z",
}
PARAMETERS: dict[str, Any] = {
    "run_id": RUN_ID,
    "subtask_id": "revenue",
    "webhook_id": WEBHOOK_ID,
    "delivery_id": DELIVERY_ID,
    "response_id": "resp_" + RUN_ID.replace("-", ""),
    "model": "minddr-quick",
    "snapshot": SNAPSHOT,
    "before": RUN_ID,
    "after": 41,
    "Last-Event-ID": 41,
    "If-Match": '"plan-1"',
    "query": "tariff revenue debt",
    "collection": ["default"],
    "state": "failed",
    "token": "q3Zr8sV1tY6uW0xA9bC4dE7fG2hJ5kLm",
    "stream": False,
    "starting_after": 17,
}
# By media type, where there is no schema to make an example from.
TEXTS: dict[str, str] = {
    "text/event-stream": 'retry: 1000\n\nid: 1\nevent: run_created\ndata: {"seq": 1, "type": "run_created"}\n\n',
    "text/plain": "Duties are the principal source of our revenue.",
    "text/html": "<!doctype html><title>Justifying tariffs</title>",
    "text/markdown": "# Justifying tariffs\n\nDuties were called the principal source of revenue [1].\n",
    "application/jsonl": '{"call": {"tool": "search"}, "result": {"text": "8 results"}}\n',
}

OF: dict[str, list[Any]] = {
    "NewRun": [
        {"question": QUESTION},
        {"question": QUESTION, "effort": "deep", "budget": {"max_cost_microusd": 2_000_000}},
        {"question": QUESTION, "length": "short", "format": "table_first", "published_to": "1899-12-31", "sources": ["corpora"]},
    ],
    "Run": [RUN],
    "ActReason": [{"reason": "The held-out answers were read, and they are better."}],
    "Promotion": [{"reason": "The held-out answers were read, and they are better."}],
    "StepApproval": [{"reason": "The gate's table was read.", "step": "rubric.canary"}],
    "CycleStop": [{"reason": "The votes of this week are to be looked at first."}],
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
    "EvidenceView": [
        {
            "run_id": RUN_ID,
            "question": QUESTION,
            "status": "completed",
            "usage": USAGE,
            "citations": [CITATION],
            "claims": [CLAIM],
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
    "NewWebhook": [{"url": WEBHOOK["url"], "description": "tells the desk", "events": ["run.completed", "run.failed"]}],
    "WebhookChange": [{"enabled": True}],
    "Webhook": [WEBHOOK],
    "RevealedWebhook": [{"webhook": WEBHOOK, "secret": "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo="}],
    "WebhookPage": [{"items": [WEBHOOK], "next": None}],
    "Delivery": [DELIVERY],
    "DeliveryPage": [{"items": [DELIVERY], "next": None}],
    "Health": [{"ok": True, "version": "0.1.0", "parts": {"database": {"ok": True, "detail": ""}}}],
}
