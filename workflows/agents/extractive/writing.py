"""The report agent without a model: what was found, chosen, ordered, attributed and cited; nothing that no source says."""

from collections.abc import Sequence

from app.domain.budget import StopReason
from app.domain.citations import MARKER
from app.domain.evidence import Finding, Quote
from app.domain.plan import ResearchPlan
from app.domain.query import ResearchQuery
from app.domain.report import Report, Section
from app.domain.writer import Arrangement
from workflows.agents.extractive.added import parted, sections_added
from workflows.agents.extractive.apart import answered_apart, parts_asked
from workflows.agents.extractive.asking import asked_of, asking
from workflows.agents.extractive.forms import shaped, statement_scale, unmet
from workflows.agents.extractive.kinds import QuestionKind
from workflows.agents.extractive.material import Material, material_of
from workflows.agents.extractive.outline import aspect_question
from workflows.agents.extractive.phrasing import phrases_in
from workflows.agents.extractive.planning import title_of
from workflows.agents.extractive.prose import model_prose
from workflows.agents.extractive.question import Question, analyse
from workflows.agents.extractive.survey import survey, told_alone
from workflows.agents.extractive.trace import trace
from workflows.agents.kit import Kit

MANY = 10
FEW = 4
"""An account of so many statements is no chain that leads to one answer."""
ON_SUBJECT = 0.5
SIDE = 3
SECTION_SHARE = 0.4
"""Share of the section length a model would be given: quotations are denser than prose."""
CUT_SHORT = (StopReason.BUDGET, StopReason.MAX_TOKENS, StopReason.MAX_COST, StopReason.MAX_TIME)
"""Stops a reader is told of: more money or time would have found more."""


async def write_report(query: ResearchQuery, plan: ResearchPlan, findings: tuple[Finding, ...], kit: Kit) -> Report:
    """Write the report (MindDR section 3.1, report agent) from findings of extractive or of model-driven searches alike."""
    question, style = analyse(asked_of(query, plan.readings)), query.style
    whole = material_of(plan, findings)
    plan, planned, added = parted(plan, findings)
    material = material_of(plan, planned)
    scale = statement_scale(style)
    words = round(SECTION_SHARE * kit.bounds.section_words)
    asked = parts_asked(question.text, plan, material)

    def alone(one: Question, about: Material) -> str:
        if _surveys(query.writer.arrangement, one, plan, about):
            return told_alone(one, about, words, scale)
        return "\n\n".join(section.body for section in trace(one, about, query.effort, scale))

    if not material.items:
        sections = [_nothing(question, material)] if planned else []
    elif asked:
        sections = answered_apart(asked, material, alone)
    elif _surveys(query.writer.arrangement, question, plan, material):
        sections = survey(question, material, words, scale)[: 1 + kit.bounds.sections]
    else:
        sections = trace(question, material, query.effort, scale)
    further = sections_added(added, sections, question.language, alone)
    sections = sections if sections or further else [_nothing(question, whole)]
    if whole.items:
        answering = len(asked) or min(1, len(sections))
        sections = shaped([*sections, *further], _known(whole), style, question.language, answering, len(further))
    if material.items:
        sections = _foretold(question, material, sections)
    if material.items and (gaps := _gaps(question, plan, material)):
        sections.append(gaps)
    return Report(
        title=title_of(asking(query.question)),
        sections=tuple(sections),
        quotes=_cited(whole, sections),
        conflicts=tuple(conflict for finding in findings for conflict in finding.conflicts),
        notices=tuple(filter(None, (*_read(question, plan), *_notices(question, whole), unmet(style, question.language)))),
    )


def _read(question: Question, plan: ResearchPlan) -> list[str]:
    """Which words were read otherwise than they were written."""
    words = phrases_in(question.language)
    told = []
    for sentence, years in ((words.read_as, False), (words.read_as_years, True)):
        read = [words.reading.format(written=each.written, read=each.read) for each in plan.readings if each.years is years]
        told += [sentence.format(readings=words.comma.join(read))] if read else []
    return told


def _surveys(arrangement: Arrangement, question: Question, plan: ResearchPlan, material: Material) -> bool:
    """Whether to go part by part, as asked or as fits."""
    return arrangement is Arrangement.SURVEY or (arrangement is Arrangement.AUTOMATIC and _is_subject(question, plan, material))


def _is_subject(question: Question, plan: ResearchPlan, material: Material) -> bool:
    """Whether much is said on the subject itself, so that the report surveys it; else it traces a chain of evidence.

    A plan that starts from single pages has them for headings, which only an account that each page gives a part of fits under.
    """
    about = phrases_in(question.language).about
    anchored = any(subtask.question == about.format(what=subtask.title) for subtask in plan.subtasks)
    if anchored and not (question.sides or question.wants_account):
        return False
    if question.closed and len(material.titles) == 1:
        return False
    if question.kind is QuestionKind.COMPARE or question.sides:
        sizes = [len(material.of_part(part)) for part in range(len(material.titles))]
        told = [size for size in sizes if size]
        if min(told) >= SIDE and (len(told) > 1 or len(sizes) > len(told)):
            return True
    on_subject = sum(question.subject_share(item.sentence.term_set) >= ON_SUBJECT for item in material.items)
    return on_subject >= (FEW if question.wants_account else MANY)


def _nothing(question: Question, material: Material) -> Section:
    words = phrases_in(question.language)
    details = dict.fromkeys(finding.detail for finding in material.findings if finding.detail)
    gaps = list(dict.fromkeys(gap for finding in material.findings for gap in finding.gaps))
    lines = [words.no_answer_detail.format(passages="; ".join(details)), *(f"- {gap}" for gap in gaps)]
    return Section(heading=words.no_answer, body="\n".join([lines[0], "", *lines[1:]]).strip())


def _foretold(question: Question, material: Material, sections: list[Section]) -> list[Section]:
    """The sections, the first of which begins by saying what of the question no source speaks of."""
    words = phrases_in(question.language)
    searched = [finding for finding in material.findings if finding.stop not in (StopReason.FAILED, StopReason.DROPPED)]
    missing = [gap for gap in dict.fromkeys(g for f in searched for g in f.gaps) if _is_word(gap, question, searched)]
    if not missing or not sections or words.nearest in sections[0].body:
        return sections
    told = words.the_rest.format(missing=words.space.join(missing))
    return [sections[0].model_copy(update={"body": f"{told}\n\n{sections[0].body}"}), *sections[1:]]


def _is_word(gap: str, question: Question, searched: Sequence[Finding]) -> bool:
    """Whether a gap is a word of the question that none of the searches met."""
    before, _, after = phrases_in(question.language).missing.partition("{word}")
    return gap.startswith(before) and gap.endswith(after) and _holds(gap, searched)


def _gaps(question: Question, plan: ResearchPlan, material: Material) -> Section | None:
    """What no search found, what models said was missing, and parts without a statement but for those read off the corpus."""
    words = phrases_in(question.language)
    guessed = {subtask.id for subtask in plan.subtasks if subtask.question == aspect_question(question, subtask.title)}
    searched = [finding for finding in material.findings if finding.stop not in (StopReason.FAILED, StopReason.DROPPED)]
    shared = [gap for gap in dict.fromkeys(g for f in searched for g in f.gaps) if _holds(gap, searched)]
    empty = [
        words.nothing_for.format(title=title)
        for title, finding in zip(material.titles, material.findings, strict=True)
        if not finding.quotes and finding in searched and finding.subtask_id not in guessed
    ]
    lines = [f"- {line}" for line in (*shared, *empty)]
    return Section(heading=words.not_covered, body="\n".join(lines)) if lines else None


def _holds(gap: str, findings: Sequence[Finding]) -> bool:
    """A model's gap stands by itself; that a word was not met counts only when no search met it."""
    return any(gap in f.gaps and f.usage.model_calls for f in findings) or all(gap in f.gaps for f in findings)


def _known(material: Material) -> dict[str, Quote]:
    return {q.key: q for f in material.findings for q in f.quotes}


def _cited(material: Material, sections: Sequence[Section]) -> tuple[Quote, ...]:
    """The quotes that the sections cite, in order of first appearance."""
    known = _known(material)
    keys = (key.strip() for section in sections for key in MARKER.findall(section.body))
    return tuple(known[key] for key in dict.fromkeys(keys) if key in known)


def _notices(question: Question, material: Material) -> tuple[str, ...]:
    words = phrases_in(question.language)
    notices: list[str] = []
    for title, finding in zip(material.titles, material.findings, strict=True):
        if finding.stop is StopReason.FAILED:
            notices.append(words.failed.format(title=title, detail=finding.detail))
        elif finding.stop is StopReason.DROPPED:
            notices.append(words.dropped.format(title=title))
        elif finding.stop in CUT_SHORT:
            notices.append(words.cut_short.format(title=title, reason=finding.stop.value.replace("_", " ")))
    years = [item.sentence.source.published.year for item in material.items if item.sentence.source.published]
    if years and not any(question.period.holds(year) for year in years):
        notices.append(words.other_years)
    if not any(model_prose(finding) for finding in material.findings):
        if question.negation and material.items:
            notices.append(words.negated.format(word=question.negation))
        notices.append(words.no_model)
    return tuple(notices)
