"""Parts that a reader put into the plan: each is researched as a question of its own, and has a section of its own.

The planner's parts serve the question, and what serves it little is left out. A part that a person asked for is not weighed so:
they are told what the sources say on it, or that they say nothing.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace

from app.domain.budget import StopReason
from app.domain.citations import MARKER
from app.domain.evidence import Finding
from app.domain.plan import ResearchPlan, Subtask
from app.domain.query import Language
from app.domain.report import Section
from workflows.agents.extractive.material import Material, material_of
from workflows.agents.extractive.phrasing import phrases_in
from workflows.agents.extractive.question import Question, analyse

Write = Callable[[Question, Material], str]
Added = tuple[tuple[Subtask, Finding], ...]


def parted(plan: ResearchPlan, findings: Sequence[Finding]) -> tuple[ResearchPlan, tuple[Finding, ...], Added]:
    """The plan and findings without the parts that a reader added, and those; all as they are where there are no others."""
    by_id = {subtask.id: subtask for subtask in plan.subtasks if subtask.added}
    added = tuple((by_id[finding.subtask_id], finding) for finding in findings if finding.subtask_id in by_id)
    planned = tuple(finding for finding in findings if finding.subtask_id not in by_id)
    own = plan.model_copy(update={"subtasks": tuple(subtask for subtask in plan.subtasks if not subtask.added)})
    return own, planned, added


def sections_added(added: Added, before: Sequence[Section], language: Language, write: Write) -> list[Section]:
    """A section for each, but for those whose search failed or that were dropped, of which notices tell."""
    said = {key.strip() for section in before for key in MARKER.findall(section.body)}
    sections: list[Section] = []
    for subtask, finding in added:
        if finding.stop not in (StopReason.FAILED, StopReason.DROPPED):
            sections.append(Section(heading=subtask.title, body=_body(subtask, finding, said, language, write)))
            said |= {key.strip() for key in MARKER.findall(sections[-1].body)}
    return sections


def _body(subtask: Subtask, finding: Finding, said: set[str], language: Language, write: Write) -> str:
    """What `write` makes of it, after the words that no source holds. What was said above is said again where that is all."""
    words = phrases_in(language)
    plan = ResearchPlan(subtasks=(subtask.model_copy(update={"depends_on": ()}),))
    material = material_of(plan, (finding,))
    missing = words.space.join(finding.gaps)
    if not material.items:
        return words.space.join(part for part in (words.nothing_for.format(title=subtask.title), missing) if part)
    fresh = tuple(item for item in material.items if item.sentence.quote.key not in said)
    told = write(analyse(subtask.question), replace(material, items=fresh or material.items))
    return "\n\n".join(part for part in (missing, told) if part)
