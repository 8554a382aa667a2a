"""Rewriting a question as a request for research, as people put it (QSR 3.2, appendix A), and its topic (QSR Fig. 2)."""

from collections.abc import Sequence
from enum import StrEnum

from pydantic import Field

from app.domain.missing import Missing
from app.domain.query import detect_language
from training.synthesis.graph_queries.naming import find_told
from training.synthesis.training_set.outcome import RefusedCandidate
from workflows.agents.kit import Kit
from workflows.agents.steps import StepAnswer, declare_step
from workflows.judging.judge_call import ask_judge

LONGEST_REQUEST = 2_000


class Topic(StrEnum):
    """The topics that QSR names."""

    LAW = "law_regulation"
    BUSINESS = "business_finance"
    SCIENCE = "science_technology"
    HEALTH = "health_medical_care"
    MEDIA = "media_entertainment"
    DAILY_LIFE = "daily_life"
    EDUCATION = "education"
    ARTS = "arts"
    NEWS = "trending_news"
    LITERATURE = "academic_literature"
    CAREER = "job_career"
    OTHER = "other"


class RequestAnswer(StepAnswer):
    """A request and its topic."""

    request: str = Field(default="", description="the request for a report")
    topic: str = Field(default="", description="the topic", json_schema_extra={"enum": [*Topic]})


REQUEST = declare_step("graph_request", RequestAnswer, max_tokens=800)


async def write_request(
    kit: Kit, question: str, hidden: Sequence[str], kept: Sequence[str]
) -> tuple[str, Topic] | RefusedCandidate:
    """Rewrite a question as a request for a report, which names nothing hidden and still names what is kept."""

    def read(said: RequestAnswer) -> tuple[str, Topic] | None:
        topic = said.topic.strip().lower()
        return (" ".join(said.request.split()), Topic(topic)) if said.request.strip() and topic in [*Topic] else None

    found = await ask_judge(kit, REQUEST, read, question=question, hidden="\n".join(hidden))
    if isinstance(found, Missing):
        return RefusedCandidate(stage="request", reason=found.reason)
    if fault := _find_fault(found[0], question, hidden, kept, kit):
        return RefusedCandidate(stage="request", reason=fault)
    return found


def _find_fault(request: str, question: str, hidden: Sequence[str], kept: Sequence[str], kit: Kit) -> str:
    if len(request) > LONGEST_REQUEST or request == question:
        return "the request is the question, or too long"
    if detect_language(request) is not kit.language:
        return "the request is in another language"
    if told := find_told(hidden, request):
        return f"the request names {told!r}"
    lost = [name for name in kept if not find_told([name], request)]
    return f"the request leaves out {lost[0]!r}" if lost else ""
