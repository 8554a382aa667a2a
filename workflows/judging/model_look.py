"""A look at claims by a language model, which judges every claim that is not in its source's own words.

The offline grader judges the claims that the model gives no verdict on. It also finds better evidence for a claim that fails; the
model judges that too.
"""

from collections.abc import Sequence
from dataclasses import replace

from app.domain.claims import Support
from app.domain.query import Language
from workflows.agents.concurrency import gather_all
from workflows.agents.kit import Kit
from workflows.judging.claim_draft import ClaimDraft
from workflows.judging.claim_repair import TextReplacement
from workflows.judging.model_judge import ModelRuling, judge_section
from workflows.judging.offline_judge import judge_offline, judge_verbatim
from workflows.judging.remarks import word_remark
from workflows.judging.second_look import list_for_judge

SECTIONS_AT_ONCE = 6
JUDGED, REPAIRED = "report/support", "report/repair"
"""Where a model's turns stand: those on the claims as they are written, and those on better evidence for some of them."""


async def look_by_model(drafts: Sequence[ClaimDraft], kit: Kit) -> tuple[list[ClaimDraft], list[TextReplacement]]:
    """Return the verdicts on claims that nobody has judged, and the sentences that the model reworded."""
    rulings = await _ask(JUDGED, [judge_verbatim(draft) for draft in drafts], kit)
    changes = [_soften_sentence(ruling) for ruling in rulings.values() if ruling.softened]
    return [_apply_ruling(draft, rulings.get(_place_of(draft)), kit.language) for draft in drafts], changes


async def confirm_repairs(repaired: Sequence[ClaimDraft], kit: Kit) -> tuple[list[ClaimDraft], list[TextReplacement]]:
    """Return those claims that the model finds in their new evidence, and the sentences that it reworded to what this says."""
    rulings = (await _ask(REPAIRED, repaired, kit)).values()
    confirmed = [(ruling, _apply_ruling(ruling.draft, ruling, kit.language)) for ruling in rulings]
    changes = [_soften_sentence(ruling) for ruling in rulings if ruling.softened]
    return [draft for ruling, draft in confirmed if draft.support.holds], changes


async def _ask(path: str, drafts: Sequence[ClaimDraft], kit: Kit) -> dict[tuple[int, int], ModelRuling]:
    """Ask the model about the claims, with one request for each section. Return its rulings by the places of their claims."""
    sections: dict[int, list[ClaimDraft]] = {}
    for draft in list_for_judge(drafts):
        sections.setdefault(draft.section, []).append(draft)
    asked = [judge_section(kit, f"{path}/{section}", found) for section, found in sections.items()]
    rulings = [ruling for section in await gather_all(asked, SECTIONS_AT_ONCE) for ruling in section]
    return {_place_of(ruling.draft): ruling for ruling in rulings}


def _apply_ruling(draft: ClaimDraft, ruling: ModelRuling | None, language: Language) -> ClaimDraft:
    if ruling is None or not ruling.draft.judge:
        return judge_offline(draft, language)
    if not ruling.softened:
        return ruling.draft
    sentence = ruling.draft.sentence._replace(text=ruling.softened)
    return replace(ruling.draft, sentence=sentence).with_verdict(
        Support.FULL, ruling.draft.judge, word_remark("softened", language)
    )


def _soften_sentence(ruling: ModelRuling) -> TextReplacement:
    draft = ruling.draft
    markers = "".join(f"[[{key}]]" for key in draft.sentence.keys)
    return TextReplacement(draft.section, draft.sentence.start, draft.sentence.end, f"{ruling.softened} {markers}")


def _place_of(draft: ClaimDraft) -> tuple[int, int]:
    return draft.section, draft.sentence.start
