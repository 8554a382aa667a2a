"""A language model as judge of claims: one request for each section, with the passages that its claims cite."""

from collections.abc import Sequence
from dataclasses import dataclass

from pydantic import Field

from app.domain.claims import Support
from app.domain.errors import ModelError
from app.domain.query import Language
from workflows.agents.asker import Asker
from workflows.agents.citation_cleaning import remove_citations
from workflows.agents.kit import Kit
from workflows.agents.ports import BudgetSpent
from workflows.agents.steps import StepAnswer, declare_step
from workflows.agents.untrusted import as_attribute, as_data
from workflows.agents.wording import say
from workflows.checks.vetoes.veto import find_veto
from workflows.judging.claim_draft import ClaimDraft

MODEL = "model"
MOST_AT_ONCE = 30
"""The most claims in one request; a longer section takes another."""
REASON_CHARS = 240
PASSAGE_CHARS = 2_500
LONGER_BY = 60
"""The number of characters by which a softened sentence may be longer than the original."""
VERDICTS = {verdict.value: verdict for verdict in (Support.FULL, Support.PARTIAL, Support.NONE, Support.CONTRADICTED)}


class VerdictAnswer(StepAnswer):
    """The verdict on one claim."""

    claim: int = Field(default=0, description="number of the claim")
    verdict: str = Field(default="", description="full, partial, none or contradicted", json_schema_extra={"enum": [*VERDICTS]})
    reason: str = Field(default="", description="what the passages have or lack, in one sentence")
    softened: str = Field(
        default="", description="the claim reworded to no more than the passages say; empty when it is full or cannot be saved"
    )


class VerdictsAnswer(StepAnswer):
    """One verdict for each claim."""

    verdicts: tuple[VerdictAnswer, ...] = ()


SUPPORT = declare_step("support", VerdictsAnswer, max_tokens=4_000)


@dataclass(frozen=True, slots=True)
class ModelRuling:
    """A draft's new verdict, and the sentence that replaces it; empty to keep the sentence."""

    draft: ClaimDraft
    softened: str = ""


async def judge_section(kit: Kit, agent: str, drafts: Sequence[ClaimDraft]) -> list[ModelRuling]:
    """Return the model's rulings on drafts of one section, in their order. Drafts without a ruling do not change.

    `agent` is a path of the section's own, by which a resumed stage finds its turns again.
    """
    asker = Asker(kit, agent)
    rulings: list[ModelRuling] = []
    for start in range(0, len(drafts), MOST_AT_ONCE):
        rulings += await _judge_some(kit, asker, drafts[start : start + MOST_AT_ONCE])
    return rulings


async def _judge_some(kit: Kit, asker: Asker, drafts: Sequence[ClaimDraft]) -> list[ModelRuling]:
    messages = kit.prompts.get("support", kit.language).render(
        claims=_format_drafts(drafts, kit.language), form=kit.codec.describe_form(SUPPORT, kit.prompts, kit.language)
    )
    try:
        answer = (await asker.ask(SUPPORT, messages)).answer
    except (ModelError, BudgetSpent):
        return [ModelRuling(draft=draft) for draft in drafts]
    said = {verdict.claim: verdict for verdict in answer.verdicts}
    return [_make_ruling(draft, said.get(number)) for number, draft in enumerate(drafts, 1)]


def _format_drafts(drafts: Sequence[ClaimDraft], language: Language) -> str:
    """Return the numbered claims, each with its passages; passages that were shown are only named again."""
    shown: dict[str, int] = {}
    parts: list[str] = []
    for number, draft in enumerate(drafts, 1):
        passages = as_data("\n".join(draft.evidence.sentences)[:PASSAGE_CHARS])
        quoted = f'<quote source="{as_attribute(draft.evidence.title)}">\n{passages}\n</quote>'
        first = shown.setdefault(quoted, number)
        told = quoted if first == number else say("same_passages", language, n=first)
        parts.append(f"{number}. {as_data(draft.sentence.statement)}\n{told}")
    return "\n\n".join(parts)


def _make_ruling(draft: ClaimDraft, said: VerdictAnswer | None) -> ModelRuling:
    verdict = VERDICTS.get(said.verdict.strip().lower()) if said else None
    if said is None or verdict is None:
        return ModelRuling(draft=draft)
    reason = remove_citations(" ".join(said.reason.split()))[:REASON_CHARS]
    judged = draft.with_verdict(verdict, MODEL, "" if verdict.holds else reason)
    return ModelRuling(draft=judged, softened="" if verdict.holds else _check_softened(draft, said.softened))


def _check_softened(draft: ClaimDraft, softened: str) -> str:
    """Return the softened sentence; an empty string if it is much longer, says what the evidence does not, or is for a cell."""
    text = remove_citations(" ".join(softened.split())).lstrip("#>*+- ")
    longer = len(text) > len(draft.sentence.text) + LONGER_BY
    if not text or longer or text == draft.sentence.text or draft.sentence.is_figure:
        return ""
    return "" if find_veto(text, draft.evidence.title, tuple(draft.evidence.sentences)) else text
