"""Writing a query-specific rubric with the model in use (Query-Specific Rubrics, section C.1); without one, a general one."""

import re
from collections.abc import Sequence

from pydantic import Field, ValidationError

from app.domain.chat import Message
from app.domain.errors import ModelError
from app.domain.evidence import content_key
from app.domain.missing import Missing
from app.domain.plan import ResearchPlan
from app.domain.query import Language, ResearchQuery
from app.domain.rubric import FEWEST, MOST, OPENINGS, Category, Criterion, Origin, Rubric, opening_of
from workflows.agents.asker import Asker
from workflows.agents.kit import Kit
from workflows.agents.memory_text import format_memory
from workflows.agents.ports import BudgetSpent
from workflows.agents.run_options import add_style_notes
from workflows.agents.steps import StepAnswer, declare_step
from workflows.agents.wording import say
from workflows.judging.general_rubric import make_general_rubric
from workflows.judging.remarks import word_remark

RUBRIC_AGENT = "plan/rubric"
TITLE_CHARS, DEMAND_CHARS = 120, 500
_ENGLISH_STOP = re.compile(r"([^\W\d_]{4}[\"'”’)]?)[.!?]+[\"'”’)]?\s+(?=[A-Z])")
_CHINESE_STOP = re.compile(r"[。！？](?![”’」』）)]?\s*$)")


class RubricCriterionAnswer(StepAnswer):
    """One proposed criterion. A bare string is its description."""

    main = "description"

    title: str = Field(default="", description="two to six words")
    description: str = Field(default="", description="one sentence that begins with its category")
    weight: int = Field(default=0, description="key 5; important 3 or 4; optional 1 or 2; error -1 or -2")


class RubricAnswer(StepAnswer):
    """A proposed rubric."""

    criteria: tuple[RubricCriterionAnswer, ...] = Field(default=())


class WholeRubricAnswer(RubricAnswer):
    """A rubric to which nothing will be added. An answer with too few criteria is asked for again, with the missing number."""

    criteria: tuple[RubricCriterionAnswer, ...] = Field(min_length=FEWEST)


RUBRIC = declare_step("rubric", RubricAnswer, max_tokens=4_000)
WHOLE_RUBRIC = declare_step("rubric", WholeRubricAnswer, max_tokens=4_000)


async def draft_rubric(query: ResearchQuery, kit: Kit, parts: Sequence[str] = (), asks_a_model: bool = True) -> Rubric:
    """Draft a rubric for the question; `parts` are the titles of its plan. A bad answer is repaired and completed.

    There is a rubric even when the model fails; its `notice` says how it was made if the model did not write all of it.
    """
    general = make_general_rubric(query, parts)
    if not asks_a_model:
        return general
    try:
        answer = (await Asker(kit, RUBRIC_AGENT).ask(RUBRIC, render_rubric_messages(query, kit, parts))).answer
    except (ModelError, BudgetSpent) as error:
        return general.model_copy(
            update={"notice": f"{word_remark('rubric_failed', query.language, detail=error)} {general.notice}"}
        )
    made = complete_rubric(answer.criteria, general, kit.chat.name, query.language)
    prompt = kit.prompts.get("rubric", kit.language).digest
    return made.model_copy(update={"prompt": prompt}) if made.origin is Origin.MODEL else made


async def write_query_specific_rubric(kit: Kit, question: str) -> Rubric | Missing:
    """Write a rubric by the model alone, for training and evaluation: its form is repaired, but nothing is added (C.1).

    The prompt is the served one without a plan.

    Missing if the model fails or gives fewer than 7 usable criteria. Where the form itself is scored,
    `training/rewards/rubric_format.py` reads the unrepaired text.
    """
    query = ResearchQuery(question=question, language=kit.language)
    try:
        answer = (
            await Asker(kit, f"rubric/{content_key(question)}").ask(WHOLE_RUBRIC, render_rubric_messages(query, kit, ()))
        ).answer
        kept = list_usable(answer.criteria, kit.language)
        return Rubric(criteria=kept, origin=Origin.MODEL, model=kit.chat.name)
    except (ModelError, BudgetSpent, ValidationError) as error:
        return Missing(f"{RUBRIC.name}: {error}")


def list_usable(said: Sequence[RubricCriterionAnswer], language: Language) -> tuple[Criterion, ...]:
    """Return the usable criteria of an answer, repaired, each title once, at most 20."""
    kept: dict[str, Criterion] = {}
    for proposed in said:
        criterion = _repair_criterion(proposed, language)
        if criterion is not None and len(kept) < MOST:
            kept.setdefault(criterion.title.casefold(), criterion)
    return tuple(kept.values())


def list_parts(plan: ResearchPlan) -> tuple[str, ...]:
    """Return what the writer of a rubric is told of a plan: the titles of its subtasks."""
    return tuple(subtask.title for subtask in plan.subtasks)


def render_rubric_messages(query: ResearchQuery, kit: Kit, parts: Sequence[str] = ()) -> tuple[Message, ...]:
    """Return the conversation that asks for a rubric, in serving, training and evaluation alike.

    `parts` are the titles of the question's plan, where there is one.
    """
    return kit.prompts.get("rubric", kit.language).render(
        today=kit.today.isoformat(),
        question=query.question,
        notes=format_memory(add_style_notes(kit.memory, query, kit.language), kit.language),
        parts="\n".join(f"- {part}" for part in parts) or say("none", kit.language),
        fewest=str(FEWEST),
        most=str(MOST),
        form=kit.codec.describe_form(RUBRIC, kit.prompts, kit.language),
    )


def complete_rubric(said: Sequence[RubricCriterionAnswer], general: Rubric, model: str, language: Language) -> Rubric:
    """Return the usable criteria of an answer; add general ones if they are too few or all of them describe faults."""
    proposed = list_usable(said, language)
    asks = any(criterion.weight > 0 for criterion in proposed)
    # When all of them describe faults, leave room for one that asks for something.
    kept = {criterion.title.casefold(): criterion for criterion in (proposed if asks else proposed[: MOST - 1])}
    own = len(kept)
    for criterion in general.criteria:
        if len(kept) < FEWEST or not asks:
            kept.setdefault(criterion.title.casefold(), criterion)
            asks = True
    if not own:
        return general.model_copy(update={"notice": f"{word_remark('rubric_failed', language, detail='-')} {general.notice}"})
    added = len(kept) - own
    notice = word_remark("rubric_filled", language, n=added) if added else ""
    return Rubric(criteria=tuple(kept.values()), origin=Origin.MODEL, model=model, notice=notice)


def _repair_criterion(said: RubricCriterionAnswer, language: Language) -> Criterion | None:
    """Repair a proposed criterion. Its opening words decide the category, and its weight moves to the nearest allowed one."""
    category, demand = opening_of(" ".join(said.description.split()))
    category = category or _category_of(said.weight)
    weight = min(category.weights, key=lambda allowed: (abs(allowed - said.weight), allowed))
    title = " ".join(said.title.split())[:TITLE_CHARS] or demand[:TITLE_CHARS]
    try:
        return Criterion(title=title, description=f"{_opening_words(category, language)}{_join_sentences(demand)}", weight=weight)
    except ValidationError:
        return None


def _category_of(weight: int) -> Category:
    if weight < 0:
        return Category.ERROR
    return Category.KEY if weight >= 5 else Category.IMPORTANT if weight >= 3 else Category.OPTIONAL


def _opening_words(category: Category, language: Language) -> str:
    openings = [opening for opening, opened in OPENINGS.items() if opened is category]
    return openings[1] if language is Language.CHINESE else f"{openings[0]} "


def _join_sentences(demand: str) -> str:
    """Join the sentences of a demand into one, so that nothing of it is lost."""
    joined = _ENGLISH_STOP.sub(r"\1; ", demand[:DEMAND_CHARS].strip())
    return _CHINESE_STOP.sub("；", joined)
