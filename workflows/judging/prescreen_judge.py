"""A first check of a reader's question for a benchmark (MindDR 4.3): its depth, its domain, and whether it may be published."""

from pydantic import Field

from app.domain.benchmark import CandidateQuestion, QuestionDomain, Screening
from app.domain.missing import Missing
from workflows.agents.kit import Kit
from workflows.agents.steps import StepAnswer, declare_step
from workflows.judging.judge_call import ask_judge

YES_NO = {"yes": True, "no": False}
REASON_CHARS = 300


class PrescreenAnswer(StepAnswer):
    """The verdict, after its reason."""

    reason: str = Field(default="", description="what decides it, in one sentence")
    depth: int = Field(default=0, description="1 to 5")
    domain: str = Field(default="", description="the domain", json_schema_extra={"enum": [*QuestionDomain]})
    self_contained: str = Field(default="", description="yes or no", json_schema_extra={"enum": [*YES_NO]})
    personal: str = Field(default="", description="yes or no", json_schema_extra={"enum": [*YES_NO]})


PRESCREEN = declare_step("prescreen", PrescreenAnswer, max_tokens=300)


async def prescreen_question(kit: Kit, candidate: CandidateQuestion) -> Screening:
    """Return the model's verdict; if there is none, `missing` says why."""

    def read(said: PrescreenAnswer) -> Screening | None:
        contained, personal = (YES_NO.get(answer.strip().lower()) for answer in (said.self_contained, said.personal))
        domain = said.domain.strip().lower()
        if contained is None or personal is None or not 1 <= said.depth <= 5 or domain not in [*QuestionDomain]:
            return None
        return Screening(
            id=candidate.id,
            depth=said.depth,
            domain=QuestionDomain(domain),
            self_contained=contained,
            personal=personal,
            reason=" ".join(said.reason.split())[:REASON_CHARS],
            model=kit.chat.name,
        )

    found = await ask_judge(kit, PRESCREEN, read, question=candidate.question)
    return Screening(id=candidate.id, missing=found.reason) if isinstance(found, Missing) else found
