"""The last step of a report: every claim held against the evidence it cites, before anyone reads it.

The offline grader judges all; a claim that fails is given better evidence of the run where there is some; what is still in doubt goes to
the judge the installation names. What fails in the end is told to the reader. A report is returned in every case.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from app.domain.claims import Claim, Support
from app.domain.errors import ToolError
from app.domain.evidence import Finding, Quote
from app.domain.query import Language
from app.domain.report import Report
from app.settings import Judge
from workflows.agents.concurrency import all_of
from workflows.agents.kit import Kit
from workflows.checks.grading import shipped
from workflows.judging.by_model import MOST_A_SECTION, Ruling, judge_section
from workflows.judging.context import Context
from workflows.judging.draft import Draft, drafts_of
from workflows.judging.offline import judge_offline, judge_with_vectors
from workflows.judging.ports import Reader
from workflows.judging.repair import Replacement, better_quote, recited, replaced, with_quote
from workflows.judging.weakness import weakness
from workflows.judging.words import say

MOST_ENCODED = 8
"""Claims for which vectors are asked, at most: only those a reader would be warned of."""
MOST_ENTAILED = 40
MOST_REPAIRED = 20
SECTIONS_AT_ONCE = 6
SURE_ENTAILED = 0.5


@dataclass(frozen=True, slots=True)
class Judges:
    """Who judges: `reader` has an encoder (and a cross-encoder), None where there is none at hand."""

    reader: Reader | None = None
    unsure: Judge = Judge.OFFLINE


async def verified(
    report: Report, findings: Sequence[Finding], kit: Kit, judges: Judges, around: Mapping[str, Context]
) -> Report:
    """The report with its claims graded, those that failed repaired, reworded or told in a notice.

    `around` gives, by quote key, the stored copy next to the quote. The only turns recorded are those of a model as judge.
    """
    known = {quote.key: quote for quote in report.quotes}
    drafts = [judge_offline(draft, kit.language) for draft in drafts_of(report.sections, known, around)]
    pool = {quote.key: quote for finding in findings for quote in finding.quotes} | known
    drafts, changes = _repaired(report, drafts, list(pool.values()), around, kit.language)
    drafts, more = await _asked(drafts, kit, judges)
    changes += more
    return _finished(report, drafts, changes, pool, kit.language)


def _repaired(
    report: Report, drafts: Sequence[Draft], pool: Sequence[Quote], around: Mapping[str, Context], language: Language
) -> tuple[list[Draft], list[Replacement]]:
    """Failing claims with better evidence, where the run has it."""
    mended, changes = list(drafts), list[Replacement]()
    for place in [place for place, draft in enumerate(drafts) if draft.fails][:MOST_REPAIRED]:
        draft = drafts[place]
        if quote := better_quote(draft, pool, around):
            changes.append(recited(draft, quote, report.sections[draft.section].body))
            mended[place] = with_quote(draft, quote, around, language)
    return mended, changes


async def _asked(drafts: list[Draft], kit: Kit, judges: Judges) -> tuple[list[Draft], list[Replacement]]:
    """The verdicts after the second look."""
    if judges.unsure is Judge.MODEL:
        return await _by_model(drafts, kit)
    try:
        if judges.reader and judges.unsure is Judge.NLI:
            return await _by_entailment(drafts, judges.reader), []
        return await _with_vectors(drafts, judges.reader, kit.language) if judges.reader else drafts, []
    except ToolError:
        return drafts, []  # the verdicts from words alone stand


async def _with_vectors(drafts: list[Draft], reader: Reader, language: Language) -> list[Draft]:
    doubtful = [draft for draft in drafts if draft.fails][:MOST_ENCODED]
    texts = {text for draft in doubtful for text in shipped().texts_to_encode(draft.sentence.text, draft.evidence)}
    if not texts:
        return drafts
    ordered = sorted(texts)
    vectors = dict(zip(ordered, await reader.encode(ordered), strict=True))
    return [judge_with_vectors(draft, vectors, language) if draft in doubtful else draft for draft in drafts]


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
    """One question a section about the claims in doubt there."""
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
    return replace(ruling.draft, sentence=sentence).judged(Support.FULL, ruling.draft.judge, say("softened", language))


def _softened(ruling: Ruling) -> Replacement:
    draft = ruling.draft
    markers = "".join(f"[[{key}]]" for key in draft.sentence.keys)
    return Replacement(draft.section, draft.sentence.start, draft.sentence.end, f"{ruling.softened} {markers}")


def _place(draft: Draft) -> tuple[int, int]:
    return draft.section, draft.sentence.start


def _finished(
    report: Report, drafts: Sequence[Draft], changes: Sequence[Replacement], pool: Mapping[str, Quote], language: Language
) -> Report:
    """The report with its changes made, its claims in their new places, and what the reader is owed."""
    sections = replaced(report.sections, changes)
    claims = tuple(_moved(draft.claim(_weakness(draft, language)), changes) for draft in drafts)
    cited = dict.fromkeys([*(quote.key for quote in report.quotes), *(key for claim in claims for key in claim.quote_keys)])
    update = {
        "sections": sections,
        "quotes": tuple(pool[key] for key in cited),
        "claims": claims,
        "notices": (*report.notices, *_notices(claims, language)),
    }
    return report.model_copy(update=update)


def _weakness(draft: Draft, language: Language) -> str:
    return weakness(draft.quotes, language) if draft.cited else ""


def _moved(claim: Claim, changes: Sequence[Replacement]) -> Claim:
    """The claim at its place after the changes of its section."""
    own = [change for change in changes if change.section == claim.section]
    shift = sum(len(change.text) - (change.end - change.start) for change in own if change.start < claim.start)
    growth = sum(len(change.text) - (change.end - change.start) for change in own if change.start == claim.start)
    return claim.model_copy(update={"start": claim.start + shift, "end": claim.end + shift + growth}) if own else claim


def _notices(claims: Sequence[Claim], language: Language) -> list[str]:
    failing = sum(claim.support in (Support.NONE, Support.CONTRADICTED) for claim in claims)
    weak = sum(bool(claim.weak) for claim in claims)
    told = [say("failing_one" if failing == 1 else "failing", language, n=failing)] if failing else []
    return told + ([say("weak", language, n=weak)] if weak else [])
