"""A language model as judge of one criterion at a time (Query-Specific Rubrics, section C.2): 1 to 10, normalised to [0, 1].

The judge sees the report as data between delimiters that the report cannot imitate. Paragraphs that try to instruct their reader
are withheld. A call that fails is a missing value, never a score.
"""

import re
from collections.abc import Sequence

from pydantic import Field

from app.domain.citations import MARKER, REMOVED
from app.domain.errors import ModelError
from app.domain.report import Report, Section
from app.domain.rubric import Criterion
from app.domain.scorecard import HIGHEST, LOWEST, CriterionScore, normalise_rating
from retrieval.untrusted.injection import find_injections
from workflows.agents.asker import Asker
from workflows.agents.citation_cleaning import remove_citations
from workflows.agents.concurrency import gather_all
from workflows.agents.kit import Kit
from workflows.agents.ports import BudgetSpent
from workflows.agents.quoting import locate_quote
from workflows.agents.steps import StepAnswer, declare_step
from workflows.agents.untrusted import as_data
from workflows.checks.claims import claims_of, to_plain
from workflows.judging.remarks import word_remark

MODEL = "model"
CRITERION_AGENT = "report/criterion"
AT_ONCE = 8
REASON_CHARS = 400
SHOWN_SENTENCES = 3
_SHOWN_NUMBER = re.compile(r"(?<!\[)\[\d{1,4}\](?!\])")


class RatingAnswer(StepAnswer):
    """The judgement of one criterion."""

    reason: str = Field(default="", description="what in the report decides it, in one sentence")
    sentences: tuple[str, ...] = Field(
        default=(), description="up to three sentences of the report, copied exactly, that it rests on"
    )
    rating: int = Field(default=0, description="1 to 10: how far the report matches the description")


RATING = declare_step("criterion", RatingAnswer, max_tokens=1_200)


async def judge_criteria(
    criteria: Sequence[tuple[int, Criterion]], question: str, report: Report, kit: Kit, turn: str = ""
) -> list[CriterionScore]:
    """Return a score, or the reason for none, for each criterion, in order. Its number and `turn` are in the agent's path."""
    shown = format_for_judge(report, kit.bounds.conversation_chars)
    asked = [_judge_criterion(number, criterion, question, report, shown, kit, turn) for number, criterion in criteria]
    return await gather_all(asked, AT_ONCE)


async def _judge_criterion(
    number: int, criterion: Criterion, question: str, report: Report, shown: str, kit: Kit, turn: str
) -> CriterionScore:
    messages = kit.prompts.get("criterion", kit.language).render(
        question=question,
        criterion=as_data(criterion.demand),
        report=shown,
        form=kit.codec.describe_form(RATING, kit.prompts, kit.language),
    )
    try:
        answer = (await Asker(kit, f"{CRITERION_AGENT}/{number}{turn}").ask(RATING, messages)).answer
    except BudgetSpent:
        return CriterionScore(criterion=criterion, missing=word_remark("judge_budget", kit.language))
    except ModelError as error:
        return CriterionScore(criterion=criterion, missing=word_remark("judge_failed", kit.language, detail=error)[:500])
    if not LOWEST <= answer.rating <= HIGHEST:
        return CriterionScore(criterion=criterion, missing=word_remark("no_rating", kit.language))
    return CriterionScore(
        criterion=criterion,
        score=normalise_rating(answer.rating),
        reason=remove_citations(" ".join(answer.reason.split()))[:REASON_CHARS],
        sentences=find_sentences(report, answer.sentences),
        judge=MODEL,
    )


def find_sentences(report: Report, said: Sequence[str]) -> tuple[str, ...]:
    """Return the report's own sentences that a judge quoted; words that are not in the report are left out."""
    found: dict[str, None] = {}
    for quoted in said[: 2 * SHOWN_SENTENCES]:
        for section in report.sections:
            plain = _drop_numbers(section.body)
            if span := locate_quote(plain, _drop_numbers(quoted)):
                found[_find_claim(section.body, plain, span.start) or plain[span.start : span.end]] = None
                break
    return tuple(found)[:SHOWN_SENTENCES]


def has_sentence(report: Report, sentence: str) -> bool:
    """Say whether the report still has this sentence."""
    return any(_drop_numbers(sentence) in _drop_numbers(section.body) for section in report.sections)


def _find_claim(body: str, plain: str, place: int) -> str:
    """Return the claim of a section that stands at a place of its plain text; empty where there is none."""
    spans = ((claim.text, plain.find(words), len(words)) for claim in claims_of(body) if (words := _drop_numbers(claim.text)))
    return next((text for text, start, length in spans if 0 <= start <= place < start + length), "")


def _drop_numbers(text: str) -> str:
    """Return a text in plain words, without the numbers that a judge sees in the place of markers."""
    return to_plain(_SHOWN_NUMBER.sub("", text))


def strip_markers(body: str) -> str:
    """Return a section's text without its citation markers."""
    return MARKER.sub("", body)


def format_for_judge(report: Report, chars: int) -> str:
    """Return the report as a judge reads it: citations as numbers, and long sections shortened to the same length."""
    numbers: dict[str, int] = {}
    share = max(400, chars // max(1, len(report.sections)))
    parts = [_format_section(section, numbers)[:share] for section in report.sections]
    return as_data("\n\n".join([f"# {report.title}", *parts]))


def _format_section(section: Section, numbers: dict[str, int]) -> str:
    kept = [block if not find_injections(strip_markers(block)) else "[withheld]" for block in section.body.split("\n\n")]
    body = "\n\n".join(kept).replace(REMOVED, "")
    text = MARKER.sub(lambda m: f"[{numbers.setdefault(m.group(1), len(numbers) + 1)}]", body)
    heading = "[withheld]" if find_injections(section.heading) else section.heading
    return f"{'#' * section.level} {heading}\n\n{text}"
