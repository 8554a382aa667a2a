"""A second look at claims of which the offline grader is unsure, by the judge that the installation names."""

from dataclasses import dataclass, replace
from itertools import islice

from app.domain.claims import Support
from app.domain.errors import ToolError
from app.domain.query import Language
from app.settings import Judge
from workflows.agents.concurrency import all_of
from workflows.agents.kit import Kit
from workflows.checks.grading import shipped
from workflows.judging.by_model import MOST_A_SECTION, Ruling, judge_section
from workflows.judging.draft import Draft
from workflows.judging.offline import judge_with_vectors
from workflows.judging.ports import Reader
from workflows.judging.remarks import remark
from workflows.judging.repair import Replacement

MOST_ENCODED = 4
"""The most claims for which vectors are asked: only claims of which a reader would be warned."""
MOST_ENTAILED = 40
SECTIONS_AT_ONCE = 6
SURE_ENTAILED = 0.5


@dataclass(frozen=True, slots=True)
class Judges:
    """The judges: `reader` has an encoder (and perhaps a cross-encoder), or is None; `unsure` names the second judge."""

    reader: Reader | None = None
    unsure: Judge = Judge.OFFLINE


async def second_look(drafts: list[Draft], kit: Kit, judges: Judges) -> tuple[list[Draft], list[Replacement]]:
    """Return the verdicts after the second look, and the sentences that a model reworded."""
    if judges.unsure is Judge.MODEL:
        return await _by_model(drafts, kit)
    try:
        if judges.reader and judges.unsure is Judge.NLI:
            return await _by_entailment(drafts, judges.reader), []
        return await _with_vectors(drafts, judges.reader, kit.language) if judges.reader else drafts, []
    except ToolError:
        return drafts, []  # the verdicts from words alone stand


async def _with_vectors(drafts: list[Draft], reader: Reader, language: Language) -> list[Draft]:
    doubtful = {place: draft for place, draft in enumerate(drafts) if draft.fails}
    doubtful = dict(islice(doubtful.items(), MOST_ENCODED))
    texts = {text for draft in doubtful.values() for text in shipped().texts_to_encode(draft.sentence.text, draft.evidence)}
    if not texts:
        return drafts
    ordered = sorted(texts)
    vectors = dict(zip(ordered, await reader.encode(ordered), strict=True))
    return [judge_with_vectors(draft, vectors, language) if place in doubtful else draft for place, draft in enumerate(drafts)]


async def _by_entailment(drafts: list[Draft], reader: Reader) -> list[Draft]:
    unsure = [draft for draft in drafts if draft.cited and not draft.support.holds][:MOST_ENTAILED]
    if not unsure:
        return drafts
    ruled = await reader.entail([(" ".join(draft.evidence.sentences), draft.sentence.text) for draft in unsure])
    verdicts = {id(draft): _entailed(draft, *said) for draft, said in zip(unsure, ruled, strict=True)}
    return [verdicts.get(id(draft), draft) for draft in drafts]


def _entailed(draft: Draft, entailed: float, contradicted: float) -> Draft:
    if entailed >= SURE_ENTAILED:
        return draft.judged(Support.FULL, Judge.NLI)
    if contradicted >= SURE_ENTAILED:
        return draft.judged(Support.CONTRADICTED, Judge.NLI, draft.reason)
    return draft.judged(Support.PARTIAL if draft.support is Support.PARTIAL else Support.NONE, Judge.NLI, draft.reason)


async def _by_model(drafts: list[Draft], kit: Kit) -> tuple[list[Draft], list[Replacement]]:
    """Ask the model about the doubtful claims, with one request for each section."""
    unsure: dict[int, list[Draft]] = {}
    for draft in drafts:
        if draft.cited and not draft.support.holds:
            unsure.setdefault(draft.section, []).append(draft)
    asked = [judge_section(kit, section, found[:MOST_A_SECTION]) for section, found in unsure.items()]
    rulings = [ruling for section in await all_of(asked, SECTIONS_AT_ONCE) for ruling in section]
    by_place = {_place(ruling.draft): ruling for ruling in rulings}
    changes = [_softened(ruling) for ruling in rulings if ruling.softened]
    return [_after(draft, by_place.get(_place(draft)), kit.language) for draft in drafts], changes


def _after(draft: Draft, ruling: Ruling | None, language: Language) -> Draft:
    if ruling is None:
        return draft
    if not ruling.softened:
        return ruling.draft
    sentence = ruling.draft.sentence._replace(text=ruling.softened)
    return replace(ruling.draft, sentence=sentence).judged(Support.FULL, ruling.draft.judge, remark("softened", language))


def _softened(ruling: Ruling) -> Replacement:
    draft = ruling.draft
    markers = "".join(f"[[{key}]]" for key in draft.sentence.keys)
    return Replacement(draft.section, draft.sentence.start, draft.sentence.end, f"{ruling.softened} {markers}")


def _place(draft: Draft) -> tuple[int, int]:
    return draft.section, draft.sentence.start
