"""Questions to the reader before the research: at most three, and only where an answer would change the plan."""

from pydantic import Field, ValidationError

from app.domain.contract import ClarifyingQuestion
from app.domain.errors import ModelError
from app.domain.query import ResearchQuery
from workflows.agents.asker import Asker
from workflows.agents.kit import Kit
from workflows.agents.open_points import find_open_points
from workflows.agents.ports import BudgetSpent
from workflows.agents.steps import StepAnswer, declare_step

CLARIFICATION_AGENT = "clarification"
MAX_QUESTIONS = 3
MAX_OPTIONS = 4
QUESTION_CHARS, WHY_CHARS, OPTION_CHARS = 300, 300, 120


class ClarifyingAnswer(StepAnswer):
    """One question to the reader."""

    main = "question"

    question: str = Field(default="", description="one short question to the reader")
    why: str = Field(default="", description="what the answer would change about the research, in one sentence")
    options: tuple[str, ...] = Field(default=(), description="two to four likely answers, a few words each; empty where open")


class ClarificationAnswer(StepAnswer):
    """The questions to ask back; usually none."""

    questions: tuple[ClarifyingAnswer, ...] = Field(default=(), description="at most three; empty when the question is clear")


CLARIFICATION = declare_step("clarification", ClarificationAnswer, max_tokens=1_200)


async def ask_reader_back(query: ResearchQuery, kit: Kit, asks_a_model: bool = True) -> tuple[ClarifyingQuestion, ...]:
    """Return the questions. Without a model, or when it fails, only those that the wording itself leaves open."""
    if not asks_a_model:
        return find_open_points(query)
    form = kit.codec.describe_form(CLARIFICATION, kit.prompts, kit.language)
    messages = kit.prompts.get("clarification", kit.language).render(
        today=kit.today.isoformat(), question=query.question, form=form
    )
    try:
        answer = (await Asker(kit, CLARIFICATION_AGENT).ask(CLARIFICATION, messages)).answer
    except (ModelError, BudgetSpent):
        return find_open_points(query)
    asked = {" ".join(said.question.casefold().split()): said for said in answer.questions}
    usable = [question for said in asked.values() if (question := _question_of(said))]
    return tuple(usable[:MAX_QUESTIONS])


def _question_of(said: ClarifyingAnswer) -> ClarifyingQuestion | None:
    options = dict.fromkeys(_put_on_one_line(option, OPTION_CHARS) for option in said.options)
    question = _put_on_one_line(said.question, QUESTION_CHARS)
    if not any(c.isalnum() for c in question):
        return None
    try:
        kept = tuple(filter(None, options))[:MAX_OPTIONS]
        return ClarifyingQuestion(question=question, why=_put_on_one_line(said.why, WHY_CHARS), options=kept)
    except ValidationError:
        return None


def _put_on_one_line(text: str, chars: int) -> str:
    return " ".join(text.replace("\x00", "").split())[:chars]
