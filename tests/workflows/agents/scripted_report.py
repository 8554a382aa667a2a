"""A question with findings, and a model that writes a good report about them, but for what a test changes."""

import json
from collections.abc import Mapping

from app.domain.budget import StopReason
from app.domain.chat import ChatRequest
from app.domain.citations import CitationStore, marker_of
from app.domain.errors import ModelRefused
from app.domain.evidence import Finding, Quote, SourceConflict
from app.domain.plan import ResearchPlan, Subtask
from app.domain.query import ResearchQuery
from app.domain.report import Report
from app.domain.writer import Composition, WriterSettings
from tests.workflows.agent_kit import make_kit, make_record, step_of
from tests.workflows.small_corpus import SmallCorpus
from workflows.agents.reporting import write_report
from workflows.chat_models.scripted import ScriptedAnswer, ScriptedModel
from workflows.systems.local_record import LocalRecord

WORDS = ["wool", "iron", "cotton", "sugar", "hemp", "glass", "paper", "coal", "salt", "lead", "silk", "tea"]
QUERY = ResearchQuery(
    question="How did presidents justify tariffs before 1900?", writer=WriterSettings(composition=Composition.SECTIONS)
)
PLAN = ResearchPlan(
    intent="learn the reasons",
    title="Why tariffs",
    subtasks=(
        Subtask(id="s1", title="Protection", question="Was protection one?"),
        Subtask(id="s2", title="Prices", question="Did prices rise?"),
    ),
)


def quote(url: str, text: str) -> Quote:
    source = next(d.source for u, d in SmallCorpus()._documents.items() if u == url)
    start = SmallCorpus().text_of(source.snapshot).index(text)
    return Quote(source=source, text=text, start=start, end=start + len(text))


PROTECT = quote("https://example.org/1824", "The tariff of 1824 was meant to protect domestic manufactures.")
WAGES = quote("https://example.org/1890", "The new tariff law protects the wages of labor.")
RAISE = quote("https://example.org/1887", "These laws raise the price to consumers of all articles imported.")
STABLE = quote("https://example.org/1890", "The prices of necessaries were not increased by it.")
FOUND = (
    Finding(subtask_id="s1", answer=f"Protection {marker_of(PROTECT)}.", quotes=(PROTECT, WAGES), stop=StopReason.SUFFICIENT),
    Finding(
        subtask_id="s2",
        answer="They disagree.",
        quotes=(RAISE, STABLE),
        conflicts=(SourceConflict(about="whether prices rose", quote_keys=(RAISE.key, STABLE.key)),),
        gaps=("wages by trade",),
        stop=StopReason.SUFFICIENT,
    ),
)
OUTLINE = json.dumps(
    {
        "title": "Protection first, prices later",
        "sections": [
            {
                "heading": "Workshops and wages",
                "brief": "protection",
                "parts": [{"heading": "Workshops", "brief": ""}, {"heading": "Wages", "brief": ""}],
                "passages": ["q1", "q2"],
            },
            {"heading": "What it cost", "brief": "prices", "parts": [], "passages": ["q4", "q3", "q88"]},
        ],
    }
)
ONE = "### Workshops\n\nThe law of 1824 was to protect makers [q1].\n\n### Wages\n\nThat of 1890 was to protect wages [q2]."
TWO = "One message says prices rose [q4]; another denies it [q3]."
CLOSING = json.dumps(
    {
        "edits": [],
        "summary": "Protection came first [q1].",
        "conclusion": "Wages followed [q2]; the cost is disputed [q4][q3].",
        "conflicts": [{"about": "whether prices rose", "passages": ["q4", "q3"]}],
    }
)
GOOD: Mapping[str, ScriptedAnswer] = {
    "outline": OUTLINE,
    "Workshops and wages": ONE,
    "What it cost": TWO,
    "consistency": CLOSING,
}


def writing(**changed: ScriptedAnswer) -> ScriptedModel:
    """A model that writes the good report but for what is changed; section texts go by their heading."""
    said = {**GOOD, **{k.replace("_", " "): v for k, v in changed.items()}}

    def answer(request: ChatRequest) -> ScriptedAnswer:
        step = step_of(request)
        if step != "text":
            return said[step]
        asked = "\n".join(m.content for m in request.messages)
        return next(
            (text for heading, text in said.items() if f"Your section: {heading}" in asked), ModelRefused("no such section")
        )

    return ScriptedModel(answer)


async def write(
    model: ScriptedModel, findings: tuple[Finding, ...] = FOUND, record: LocalRecord | None = None, **more: object
) -> Report:
    return await write_report(QUERY, PLAN, findings, make_kit(model, record or make_record(), **more))  # type: ignore[arg-type]


def rendered(report: Report) -> str:
    body = "\n".join(f"{'#' * s.level} {s.heading}\n{s.body}" for s in report.sections)
    numbered = CitationStore(report.quotes).number(body)
    assert numbered.unresolved == ()
    return numbered.text
