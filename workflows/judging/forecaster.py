"""Stage two of the tense check by a model: does the text name a forecaster for a prediction of the past (MindDR 8.4)?"""

from pydantic import Field

from app.domain.errors import ModelError
from workflows.agents.asker import Asker
from workflows.agents.kit import Kit
from workflows.agents.ports import BudgetSpent
from workflows.agents.steps import StepAnswer, declare_step
from workflows.agents.untrusted import as_data

CONTEXT_CHARS = 2_000


class ForecasterAnswer(StepAnswer):
    """The verdict whether a forecaster is named, and which."""

    result: str = Field(default="", description="yes or no", json_schema_extra={"enum": ["yes", "no"]})
    detail: str = Field(default="", description="who it is, or why nobody, in a few words")


FORECASTER = declare_step("forecaster", ForecasterAnswer, max_tokens=200)


async def judge_forecaster(kit: Kit, number: int, sentence: str, context: str) -> bool | None:
    """Return the model's verdict; None if it gave none. `number` counts the sentences of a stage."""
    messages = kit.prompts.get("forecaster", kit.language).render(
        context=as_data(context[:CONTEXT_CHARS]),
        sentence=as_data(sentence[:CONTEXT_CHARS]),
        form=kit.codec.describe_form(FORECASTER, kit.prompts, kit.language),
    )
    try:
        answer = (await Asker(kit, f"report/tense/{number}").ask(FORECASTER, messages)).answer
    except (ModelError, BudgetSpent):
        return None
    return {"yes": True, "no": False}.get(answer.result.strip().lower())
