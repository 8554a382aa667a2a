"""Putting one question to a judge. What it answers, or why there is no answer: a failed call is never a zero."""

from collections.abc import Callable
from typing import TypeVar

from app.domain.errors import ModelError
from app.domain.evidence import content_key
from app.domain.missing import Missing
from workflows.agents.asking import Asker
from workflows.agents.kit import Kit
from workflows.agents.ports import BudgetSpent
from workflows.agents.steps import Answer, Step
from workflows.agents.untrusted import as_data

A = TypeVar("A", bound=Answer)
T = TypeVar("T")


async def ruled(kit: Kit, step: Step[A], read: Callable[[A], T | None], **shown: str) -> T | Missing:
    """What `read` makes of the judge's answer; missing when the call fails or `read` finds nothing it can use.

    `shown` fills the prompt named like the step; every value is material, delimited and stripped of what could pass for a
    delimiter. The agent's path holds a key of what is shown, so that a stored turn answers the same question only.
    """
    material = {name: as_data(text) for name, text in shown.items()}
    messages = kit.prompts.get(step.name, kit.language).render(form=kit.codec.form(step, kit.prompts, kit.language), **material)
    agent = f"judge/{step.name}/{content_key(*(text for _, text in sorted(material.items())))}"
    try:
        answer = (await Asker(kit, agent).ask(step, messages)).answer
    except (ModelError, BudgetSpent) as error:
        return Missing(f"{step.name}: {error}")
    value = read(answer)
    return Missing(f"{step.name}: the judge's answer cannot be used") if value is None else value
