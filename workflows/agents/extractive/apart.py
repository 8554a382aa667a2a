"""A report on several questions put as one: a section each, every one written as if it had been asked alone."""

from collections.abc import Callable
from dataclasses import replace

from app.domain.plan import ResearchPlan
from app.domain.report import Section
from workflows.agents.extractive.material import Material
from workflows.agents.extractive.question import Question, analyse
from workflows.agents.extractive.several import asked_apart

Write = Callable[[Question, Material], str]


def parts_asked(text: str, plan: ResearchPlan, material: Material) -> dict[int, Question]:
    """The parts of the material that answer a question of their own, where the text holds several; else none."""
    asked = set(asked_apart(text))
    by_id = {subtask.id: subtask.question for subtask in plan.subtasks}
    own = {part: by_id.get(finding.subtask_id, "") for part, finding in enumerate(material.findings)}
    return {part: analyse(question) for part, question in own.items() if question in asked}


def answered_apart(parts: dict[int, Question], material: Material, write: Write) -> list[Section]:
    """A section for each part with statements: what `write` makes of it alone, under the question."""
    sections = []
    for part, question in parts.items():
        alone = _alone(material, part)
        if alone.items:
            sections.append(Section(heading=material.titles[part], body=write(question, alone)))
    return sections


def _alone(material: Material, part: int) -> Material:
    items = tuple(replace(item, part=0) for item in material.of_part(part))
    return Material((material.titles[part],), (material.findings[part],), items)
