"""A look at claims by a language model, which judges every cited claim that is not in its source's own words.

The offline grader judges the claims that the model gives no verdict on. It also finds better evidence for a claim that fails; the
model judges that too.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

from app.domain.claims import Support
from app.domain.evidence import Passage, Quote
from app.domain.query import Language
from app.domain.report import Section
from workflows.agents.concurrency import gather_all
from workflows.agents.kit import Kit
from workflows.agents.reporting.whole_prompt import ShownEvidence
from workflows.judging.claim_draft import ClaimDraft
from workflows.judging.claim_repair import TextReplacement
from workflows.judging.model_judge import MOST_AT_ONCE, ModelRuling, judge_some
from workflows.judging.named_sentences import cite_named
from workflows.judging.offline_judge import judge_offline, judge_verbatim
from workflows.judging.remarks import word_remark
from workflows.judging.verbatim import VERBATIM

PARTS_AT_ONCE = 6
JUDGED, REPAIRED = "report/support", "report/repair"
"""Where a model's turns stand: those on the claims as they are written, and those on better evidence for some of them."""


async def look_by_model(
    sections: Sequence[Section], drafts: Sequence[ClaimDraft], kit: Kit, read: ShownEvidence | None
) -> tuple[list[ClaimDraft], list[TextReplacement]]:
    """Return the verdicts on claims of these sections that nobody has judged, and the sentences that the model reworded.

    Sentences without a citation are asked about too: what passes for known misleads like any other. `read` is what the writer
    read, if the model has it at hand.
    """
    drafts = [judge_verbatim(draft) for draft in drafts]
    rulings = await _ask(JUDGED, sections, [draft for draft in drafts if draft.quotes or not draft.sentence.keys], kit, read)
    changes = [_soften_sentence(ruling) for ruling in rulings.values() if ruling.softened]
    judged = [_apply_ruling(draft, rulings.get(_place_of(draft)), kit.language) for draft in drafts]
    became: dict[tuple[int, int, str], tuple[Quote, ...]] = {}
    for place, draft in enumerate(judged):
        if (ruling := rulings.get(_place_of(draft))) and ruling.named:
            quotes, change = cite_named(draft, ruling.named, sections[draft.section].body)
            judged[place] = replace(draft, quotes=tuple(quotes))
            changes.append(change)
            became |= {(draft.section, draft.sentence.paragraph, key): tuple(quotes) for key in draft.sentence.keys}
    return [_follow(draft, became) for draft in judged], changes


def _follow(draft: ClaimDraft, became: Mapping[tuple[int, int, str], tuple[Quote, ...]]) -> ClaimDraft:
    """Let a sentence that leans on another's citation lean on what this one cites now."""
    if draft.cited:
        return draft
    place = draft.section, draft.sentence.paragraph
    leaning = [quote for old in draft.quotes for quote in became.get((*place, old.key), (old,))]
    return replace(draft, quotes=tuple({quote.key: quote for quote in leaning}.values()))


async def confirm_repairs(
    sections: Sequence[Section], repaired: Sequence[ClaimDraft], kit: Kit
) -> tuple[list[ClaimDraft], list[TextReplacement]]:
    """Return those claims that the model finds in their new evidence, and the sentences that it reworded to what this says."""
    rulings = (await _ask(REPAIRED, sections, repaired, kit)).values()
    confirmed = [(ruling, _apply_ruling(ruling.draft, ruling, kit.language)) for ruling in rulings]
    changes = [_soften_sentence(ruling) for ruling in rulings if ruling.softened]
    return [draft for ruling, draft in confirmed if draft.support.holds], changes


async def _ask(
    path: str, sections: Sequence[Section], drafts: Sequence[ClaimDraft], kit: Kit, read: ShownEvidence | None = None
) -> dict[tuple[int, int], ModelRuling]:
    """Ask the model about the claims, in as few requests as they fit into. Return its rulings by the places of their claims."""
    own = [draft for draft in drafts if draft.judge != VERBATIM]
    parts = _split(own, math.inf if read else kit.bounds.evidence_chars)
    asked = [judge_some(kit, f"{path}/{number}", sections, part, read) for number, part in enumerate(parts, 1)]
    rulings = [ruling for part in await gather_all(asked, PARTS_AT_ONCE) for ruling in part]
    return {_place_of(ruling.draft): ruling for ruling in rulings}


def _split(drafts: Sequence[ClaimDraft], chars: float) -> list[list[ClaimDraft]]:
    """Split claims, in order, where there are too many for one request, or where the passages they cite have more characters."""
    parts: list[list[ClaimDraft]] = []
    shown = set[Passage]()
    for draft in drafts:
        together = shown.union(draft.shown)
        if not parts or len(parts[-1]) == MOST_AT_ONCE or sum(len(passage.text) for passage in together) > chars:
            parts.append([])
            together = set(draft.shown)
        parts[-1].append(draft)
        shown = together
    return parts


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
