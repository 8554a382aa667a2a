"""A language model as judge of claims, which reads them in their sections beside whole passages.

Of a report that one call wrote these are all that its writer read, in the writer's own words and order, so that a server which
keeps prefixes reads them once; else those that the claims cite.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from pydantic import Field

from app.domain.citations import MARKER
from app.domain.claims import Support
from app.domain.errors import ContextTooLong, ModelError
from app.domain.evidence import Passage, Quote
from app.domain.report import Section
from workflows.agents.asker import Asker
from workflows.agents.citation_cleaning import remove_citations
from workflows.agents.evidence_book import join_passages
from workflows.agents.kit import Kit
from workflows.agents.ports import BudgetSpent
from workflows.agents.reporting.whole_prompt import ShownEvidence, render_with_evidence
from workflows.agents.shown_passages import format_documents, show_passage
from workflows.agents.steps import StepAnswer, declare_step
from workflows.agents.untrusted import as_attribute, as_data
from workflows.checks.vetoes.veto import find_veto
from workflows.judging.claim_draft import ClaimDraft
from workflows.judging.named_sentences import find_named

MODEL = "model"
MOST_AT_ONCE = 160
"""The most claims in one request."""
REASON_CHARS = 240
PASSAGE_CHARS = 20_000
"""The most that is shown of a passage where only what is cited is shown."""
LONGER_BY = 60
"""The number of characters by which a softened sentence may be longer than the original."""
DOUBTS = {verdict.value: verdict for verdict in (Support.PARTIAL, Support.NONE, Support.CONTRADICTED)}


class DoubtAnswer(StepAnswer):
    """The verdict on a statement that is not full."""

    id: int = Field(default=0, description="the statement's id")
    verdict: str = Field(default="", description="partial, none or contradicted", json_schema_extra={"enum": [*DOUBTS]})
    reason: str = Field(default="", description="what the passages lack or say otherwise")
    softened: str = Field(
        default="", description="for none and contradicted: the statement reworded to what the passages say, or empty"
    )


class SupportAnswer(StepAnswer):
    """A statement that is full, and what gives it."""

    id: int = Field(default=0, description="the statement's id")
    by: tuple[str, ...] = Field(
        default=(), description='where it cites something: the fewest sentences that give it, such as "q3: The council resolved"'
    )


class VerdictsAnswer(StepAnswer):
    """One verdict for each statement."""

    full: tuple[SupportAnswer, ...] = Field(default=(), description="the statements that are full")
    remark: tuple[int, ...] = Field(default=(), description="ids of those that are remarks")
    others: tuple[DoubtAnswer, ...] = Field(default=(), description="all others, one by one")

    def rule(self, number: int, draft: ClaimDraft, passages: Mapping[str, Passage]) -> "ModelRuling":
        """Return the ruling on the statement of this number; without one, the draft as it is."""
        doubt = next((each for each in self.others if each.id == number), None)
        if doubt is not None:
            return _make_doubtful(draft, doubt)
        found = next((each for each in self.full if each.id == number), None)
        if found is not None:
            named = tuple(find_named(found.by, passages)) if draft.cited else ()
            return ModelRuling(draft=draft.with_verdict(Support.FULL, MODEL), named=named)
        if number in self.remark:
            holds = Support.FULL if draft.cited else Support.UNCITED
            return ModelRuling(draft=replace(draft.with_verdict(holds, MODEL), remark=True))
        return ModelRuling(draft=draft)


SUPPORT = declare_step("support", VerdictsAnswer, max_tokens=8_000)


@dataclass(frozen=True, slots=True)
class ModelRuling:
    """A draft's new verdict, and the sentence that replaces it; empty to keep the sentence. `named` are words that give it."""

    draft: ClaimDraft
    softened: str = ""
    named: tuple[Quote, ...] = ()


async def judge_some(
    kit: Kit, agent: str, sections: Sequence[Section], drafts: Sequence[ClaimDraft], read: ShownEvidence | None
) -> list[ModelRuling]:
    """Return the model's rulings on drafts of these sections, in their order. Drafts without a ruling do not change.

    `agent` is a path of their own, by which a resumed stage finds its turns again; `read` is what the report's writer read, None
    to show what the drafts cite.
    """
    asker = Asker(kit, agent)
    try:
        return await _judge_beside(asker, sections, drafts, read or _show_cited(drafts))
    except ContextTooLong:
        pass  # the passages of the writer and the report together are too long for this server
    except (ModelError, BudgetSpent):
        return [ModelRuling(draft=draft) for draft in drafts]
    return await judge_some(kit, agent, sections, drafts, None) if read else [ModelRuling(draft=draft) for draft in drafts]


async def _judge_beside(
    asker: Asker, sections: Sequence[Section], drafts: Sequence[ClaimDraft], shown: ShownEvidence
) -> list[ModelRuling]:
    kit = asker.kit
    asked = kit.prompts.get(SUPPORT.name, kit.language).render_text(
        report=_format_drafts(sections, drafts, shown.passages), form=kit.codec.describe_form(SUPPORT, kit.prompts, kit.language)
    )
    answer = (await asker.ask(SUPPORT, render_with_evidence(kit.prompts, kit.language, shown.text, asked))).answer
    return [answer.rule(number, draft, shown.passages) for number, draft in enumerate(drafts, 1)]


def _show_cited(drafts: Sequence[ClaimDraft]) -> ShownEvidence:
    passages = {f"q{number}": joined for number, joined in enumerate(join_passages(p for d in drafts for p in d.shown), 1)}
    return ShownEvidence(format_documents(show_passage(*each, PASSAGE_CHARS) for each in passages.items()), passages)


def _format_drafts(sections: Sequence[Section], drafts: Sequence[ClaimDraft], passages: Mapping[str, Passage]) -> str:
    """Return the sections of the drafts, in which these are numbered."""
    numbered = groupby(enumerate(drafts, 1), key=lambda each: each[1].section)
    return "\n\n".join(_format_section(sections[place], list(own), passages) for place, own in numbered)


def _format_section(section: Section, own: Sequence[tuple[int, ClaimDraft]], passages: Mapping[str, Passage]) -> str:
    """Return a section as its readers see it, with the number of each draft and the passages that it cites."""
    parts, at = [f"{'#' * section.level} {as_attribute(section.heading)}\n\n"], 0
    for number, draft in own:
        cited = draft.quotes if draft.cited else ()
        names = [name for name, passage in passages.items() if any(passage.holds(quote) for quote in cited)]
        parts += [_show_between(section.body[at : draft.sentence.start])]
        cites = f' cites="{" ".join(names)}"' if names else ""
        parts += [f'<s id="{number}"{cites}>{as_data(draft.sentence.text)}</s>']
        at = draft.sentence.end
    return "".join([*parts, _show_between(section.body[at:])]).strip()


def _show_between(text: str) -> str:
    """Return what stands between statements without citations, and without bold, whose other half may be in a statement."""
    return as_data(MARKER.sub("", text).replace("**", ""))


def _make_doubtful(draft: ClaimDraft, said: DoubtAnswer) -> ModelRuling:
    verdict = DOUBTS.get(said.verdict.strip().lower())
    if verdict is None:
        return ModelRuling(draft=draft)
    reason = remove_citations(" ".join(said.reason.split()))[:REASON_CHARS]
    judged = draft.with_verdict(verdict, MODEL, "" if verdict.holds else reason)
    misleads = draft.cited and verdict in (Support.NONE, Support.CONTRADICTED)
    return ModelRuling(draft=judged, softened=_check_softened(draft, said.softened) if misleads else "")


def _check_softened(draft: ClaimDraft, softened: str) -> str:
    """Return the softened sentence; an empty string if it is much longer, says what the evidence does not, or is for a cell."""
    text = remove_citations(" ".join(softened.split())).lstrip("#>*+- ")
    longer = len(text) > len(draft.sentence.text) + LONGER_BY
    if not text or longer or text == draft.sentence.text or draft.sentence.is_figure:
        return ""
    return "" if find_veto(text, draft.evidence.title, tuple(draft.evidence.sentences)) else text
