"""The last step of a report: every claim is checked against the evidence it cites, before anyone reads it.

The judge that the installation names judges the claims: a language model alone, or the offline grader and then an encoder. A
failing claim gets better evidence of the run if there is some. A notice tells the reader of claims that fail in the end.
"""

from collections.abc import Mapping, Sequence

from app.domain.citations import MARKER
from app.domain.claims import Claim, Support
from app.domain.evidence import Finding, Passage, Quote, Source
from app.domain.query import Language
from app.domain.report import Report, Section
from app.settings import ClaimGrader
from workflows.agents.concurrency import give_way
from workflows.agents.kit import Kit
from workflows.agents.reporting.whole_prompt import ShownEvidence
from workflows.checks.table_repair import repair_tables
from workflows.judging.claim_draft import ClaimDraft, make_drafts
from workflows.judging.claim_repair import TextReplacement, apply_replacements, cite_quote, find_better_quote, use_quote
from workflows.judging.context import QuoteContext, find_passages
from workflows.judging.model_look import confirm_repairs, look_by_model
from workflows.judging.offline_judge import OFFLINE, judge_offline
from workflows.judging.remarks import word_remark
from workflows.judging.second_look import Judges, look_again
from workflows.judging.unsourced import find_gaps
from workflows.judging.verbatim import VERBATIM

MOST_REPAIRED = 20
GRADED_AT_ONCE = 10
WEB_KINDS = frozenset({"web", "web page"})


async def verify_report(
    report: Report,
    findings: Sequence[Finding],
    kit: Kit,
    judges: Judges,
    around: Mapping[str, QuoteContext],
    mend: bool = True,
    read: ShownEvidence | None = None,
) -> Report:
    """Return the report with repaired tables and graded claims; failing claims are repaired, reworded or named in a notice.

    Without `mend` tables do not change, and failing claims keep their citations. `around` gives, by quote key, the text of the
    stored copy next to the quote; `read` is what the report's writer read, if the model that judges has it at hand.
    The only turns recorded are those of a model as judge.
    """
    report = _repair_tables(report) if mend else report
    known = {quote.key: quote for quote in report.quotes}
    pool = {quote.key: quote for finding in findings for quote in finding.quotes} | known
    passages = find_passages(pool.values(), (passage for finding in findings for passage in finding.passages), around)
    drafts = [
        draft for number, section in enumerate(report.sections) for draft in make_drafts(section, number, known, around, passages)
    ]
    by_model = judges.second is ClaimGrader.MODEL
    if by_model:
        drafts, changes = await look_by_model(report.sections, drafts, kit, read)
    else:
        drafts, changes = await _grade_offline(drafts, kit.language), []
    if mend:
        repaired = await _find_repairs(drafts, pool, around, passages, kit.language)
        repaired, reworded = await confirm_repairs(report.sections, repaired, kit) if by_model else (repaired, [])
        drafts, cited = _apply_repairs(report, drafts, repaired)
        # A sentence that is reworded has its citation with it.
        rewritten = {(change.section, change.start) for change in reworded}
        changes += [*reworded, *(change for change in cited if (change.section, change.start) not in rewritten)]
    if not by_model:
        drafts = await look_again(drafts, kit, judges)
    named = {quote.key: quote for draft in drafts for quote in draft.quotes}
    return _finish_report(report, drafts, changes, pool | named, kit.language, judges.second)


async def _grade_offline(drafts: Sequence[ClaimDraft], language: Language) -> list[ClaimDraft]:
    """Grade every claim with the offline grader, a few at a time."""
    graded: list[ClaimDraft] = []
    for place, draft in enumerate(drafts):
        if place % GRADED_AT_ONCE == 0:
            await give_way()
        graded.append(judge_offline(draft, language))
    return graded


def _repair_tables(report: Report) -> Report:
    """Repair every table that readers would not see as a table; its words and citations stay."""
    bodies = [repair_tables(section.body).text for section in report.sections]
    if all(section.body == body for section, body in zip(report.sections, bodies, strict=True)):
        return report
    sections = (section.model_copy(update={"body": body}) for section, body in zip(report.sections, bodies, strict=True))
    return report.model_copy(update={"sections": tuple(sections)})


async def _find_repairs(
    drafts: Sequence[ClaimDraft],
    pool: Mapping[str, Quote],
    around: Mapping[str, QuoteContext],
    passages: Mapping[str, Passage],
    language: Language,
) -> list[ClaimDraft]:
    """Return failing claims with better evidence, if the run has some."""
    repaired: list[ClaimDraft] = []
    for draft in [draft for draft in drafts if draft.fails][:MOST_REPAIRED]:
        await give_way()
        if quote := find_better_quote(draft, pool, around):
            repaired.append(use_quote(draft, quote, around, passages[quote.key], language))
    return repaired


def _apply_repairs(
    report: Report, drafts: Sequence[ClaimDraft], repaired: Sequence[ClaimDraft]
) -> tuple[list[ClaimDraft], list[TextReplacement]]:
    """Return all claims, some of them repaired, and the changes of their citations."""
    by_place = {(draft.section, draft.sentence.start): draft for draft in repaired}
    changes = [cite_quote(draft, draft.quotes[0], report.sections[draft.section].body) for draft in repaired]
    return [by_place.get((draft.section, draft.sentence.start), draft) for draft in drafts], changes


def _finish_report(
    report: Report,
    drafts: Sequence[ClaimDraft],
    changes: Sequence[TextReplacement],
    pool: Mapping[str, Quote],
    language: Language,
    judge: ClaimGrader,
) -> Report:
    """Return the report with its changes applied, its claims at their new places, and notices for the reader.

    A report without any quote says what was not found, which needs no citation.
    """
    sections = apply_replacements(report.sections, changes)
    by_section: dict[int, list[TextReplacement]] = {}
    for change in changes:
        by_section.setdefault(change.section, []).append(change)
    gaps = find_gaps(drafts, language, _list_headings(report)) if report.quotes else [""] * len(drafts)
    claims = tuple(
        _move_claim(draft.to_claim(_weakness_of(draft, language), gap), by_section.get(draft.section, ()))
        for draft, gap in zip(drafts, gaps, strict=True)
    )
    used = {*_list_cited(sections), *(key for claim in claims for key in claim.quote_keys)}
    used |= {key for conflict in report.conflicts for key in conflict.quote_keys}
    replaced = _list_cited(report.sections) - used
    cited = dict.fromkeys([*(quote.key for quote in report.quotes), *(key for claim in claims for key in claim.quote_keys)])
    update = {
        "sections": sections,
        "quotes": tuple(pool[key] for key in cited if key not in replaced),
        "claims": claims,
        "notices": (*report.notices, *list_notices(claims, language, judge)),
    }
    return report.model_copy(update=update)


def _list_cited(sections: Sequence[Section]) -> set[str]:
    return {key for section in sections for key in MARKER.findall(section.body)}


def _list_headings(report: Report) -> str:
    return "\n".join([report.title, *(section.heading for section in report.sections)])


def _weakness_of(draft: ClaimDraft, language: Language) -> str:
    """Return why the evidence is weak; empty if it is not, or if it comes from more than one source.

    Two addresses of one DOI, such as an abstract and the paper's page, are one source.
    """
    sources = [quote.source for quote in draft.quotes]
    if not draft.cited or len({source.doi or source.url for source in sources}) != 1:
        return ""
    why = _weak_reason(sources)
    return word_remark(why, language) if why else ""


def _weak_reason(same: Sequence[Source]) -> str:
    if any(source.retracted for source in same):
        return "retracted"
    if any(source.preprint for source in same):
        return "preprint"
    return "undated" if all(source.kind in WEB_KINDS and source.published is None for source in same) else ""


def _move_claim(claim: Claim, own: Sequence[TextReplacement]) -> Claim:
    """Return the claim at its place after the changes of its section."""
    if not own:
        return claim
    shift = sum(len(change.text) - (change.end - change.start) for change in own if change.start < claim.start)
    growth = sum(len(change.text) - (change.end - change.start) for change in own if change.start == claim.start)
    return claim.model_copy(update={"start": claim.start + shift, "end": claim.end + shift + growth})


def list_notices(claims: Sequence[Claim], language: Language, judge: ClaimGrader) -> list[str]:
    """Return notices for the reader about claims that fail, that nothing cited gives, or that rest only on a weak source.

    So are claims in another language than what they cite where only words were compared, and those that the installation's
    `judge` did not judge: the verdicts from their words stand.
    """
    failing = sum(claim.support in (Support.NONE, Support.CONTRADICTED) for claim in claims)
    weak, unsourced = sum(bool(claim.weak) for claim in claims), sum(claim.unsourced for claim in claims)
    told = [word_remark("failing_one" if failing == 1 else "failing", language, n=failing)] if failing else []
    told += [word_remark("unsourced_one" if unsourced == 1 else "unsourced", language, n=unsourced)] if unsourced else []
    foreign = sum(claim.judge == OFFLINE and claim.reason == word_remark("other_language", language) for claim in claims)
    told += [word_remark("untranslated_one" if foreign == 1 else "untranslated", language, n=foreign)] if foreign else []
    unjudged = sum(bool(claim.quote_keys) and claim.judge not in (VERBATIM, judge) for claim in claims)
    if unjudged and judge is not ClaimGrader.OFFLINE:
        told.append(word_remark("unjudged_one" if unjudged == 1 else "unjudged", language, n=unjudged))
    return told + ([word_remark("weak", language, n=weak)] if weak else [])
