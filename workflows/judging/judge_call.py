"""Asking a judge one question. The result is its answer, or the reason for none: a failed call is never a zero."""

from collections.abc import Callable
from typing import TypeVar

from app.domain.errors import ModelError
from app.domain.evidence import content_key
from app.domain.missing import Missing
from workflows.agents.asker import Asker
from workflows.agents.kit import Kit
from workflows.agents.ports import BudgetSpent
from workflows.agents.steps import Step, StepAnswer
from workflows.agents.untrusted import as_data

A = TypeVar("A", bound=StepAnswer)
T = TypeVar("T")


async def ask_judge(kit: Kit, step: Step[A], read: Callable[[A], T | None], **shown: str) -> T | Missing:
    """Ask a judge and return what `read` makes of its answer; missing if the call fails or `read` returns None.

    `shown` fills the prompt that is named like the step. Every value is data: it is delimited and cannot imitate a delimiter. The
    agent's path holds a key of the values, so that a stored turn answers only the same question.
    """
    material = {name: as_data(text) for name, text in shown.items()}
    messages = kit.prompts.get(step.name, kit.language).render(
        form=kit.codec.describe_form(step, kit.prompts, kit.language), **material
    )
    agent = f"judge/{step.name}/{content_key(*(text for _, text in sorted(material.items())))}"
    try:
        answer = (await Asker(kit, agent).ask(step, messages)).answer
    except (ModelError, BudgetSpent) as error:
        return Missing(f"{step.name}: {error}")
    value = read(answer)
    return Missing(f"{step.name}: the judge's answer cannot be used") if value is None else value
