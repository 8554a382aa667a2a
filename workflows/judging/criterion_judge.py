"""A language model as judge of a report by all criteria of its rubric in one call: 1 to 10 each, normalised to [0, 1].

The judge sees the report and the quotations that it cites as data between delimiters that they cannot imitate. What tries to
instruct its reader is withheld. A call that fails is a missing value, never a score. Rewards and gates ask by criterion, as the
paper does (`rubric_judge.py`); `python -m bench.rubric_judging` measures how far both agree.
"""

import re
from collections.abc import Mapping, Sequence

from pydantic import Field

from app.domain.citations import MARKER, REMOVED
from app.domain.errors import ModelError
from app.domain.evidence import Passage, Quote
from app.domain.query import Language
from app.domain.report import Report, Section
from app.domain.rubric import Criterion
from app.domain.scorecard import HIGHEST, LOWEST, CriterionScore, normalise_rating
from retrieval.untrusted.injection import find_injections
from workflows.agents.asker import Asker
from workflows.agents.citation_cleaning import remove_citations
from workflows.agents.kit import Kit
from workflows.agents.ports import BudgetSpent
from workflows.agents.quoting import locate_quote
from workflows.agents.steps import StepAnswer, declare_step
from workflows.agents.untrusted import as_attribute, as_data
from workflows.agents.wording import say
from workflows.checks.claims import claims_of, to_plain
from workflows.judging.remarks import word_remark

MODEL = "model"
CRITERIA_AGENT = "report/criteria"
REASON_CHARS = 400
SHOWN_SENTENCES = 3
WITHHELD = "[withheld]"
_SHOWN_NUMBER = re.compile(r"(?<!\[)\[\d{1,4}\](?!\])")


class CriterionRating(StepAnswer):
    """The judgement of one criterion."""

    id: int = Field(default=0, description="the description's number")
    reason: str = Field(default="", description="what in the report decides it, in one sentence")
    sentences: tuple[str, ...] = Field(
        default=(), description="up to three sentences of the report, copied exactly, that it rests on"
    )
    rating: int = Field(default=0, description="1 to 10: how far the report matches the description")


class CriteriaAnswer(StepAnswer):
    """One judgement for each description."""

    ratings: tuple[CriterionRating, ...] = ()


CRITERIA = declare_step("criteria", CriteriaAnswer, max_tokens=8_000)


async def judge_criteria(
    criteria: Sequence[Criterion], question: str, report: Report, kit: Kit, turn: str = "", passages: Sequence[Passage] = ()
) -> list[CriterionScore]:
    """Return a score, or the reason for none, for each criterion, in order. `turn` is in the agent's path.

    With `passages` the judge sees those that are cited, instead of the quotations: those of a report whose claims nobody has
    checked yet are sentences that were chosen by their words alone.
    """
    if not criteria:
        return []
    messages = kit.prompts.get("criteria", kit.language).render(
        question=question,
        criteria="\n".join(f"{number}. {as_data(criterion.demand)}" for number, criterion in enumerate(criteria, 1)),
        report=format_for_judge(report, kit.bounds.conversation_chars),
        quotes=format_quotes(report, kit.bounds.evidence_chars, passages) or say("none", kit.language),
        form=kit.codec.describe_form(CRITERIA, kit.prompts, kit.language),
    )
    try:
        answer = (await Asker(kit, f"{CRITERIA_AGENT}{turn}").ask(CRITERIA, messages)).answer
    except BudgetSpent:
        return [CriterionScore(criterion=c, missing=word_remark("judge_budget", kit.language)) for c in criteria]
    except ModelError as error:
        missing = word_remark("judge_failed", kit.language, detail=error)[:500]
        return [CriterionScore(criterion=criterion, missing=missing) for criterion in criteria]
    said = {rating.id: rating for rating in reversed(answer.ratings)}
    return [_score(criterion, said.get(number), report, kit.language) for number, criterion in enumerate(criteria, 1)]


def _score(criterion: Criterion, said: CriterionRating | None, report: Report, language: Language) -> CriterionScore:
    if said is None or not LOWEST <= said.rating <= HIGHEST:
        return CriterionScore(criterion=criterion, missing=word_remark("no_rating", language))
    return CriterionScore(
        criterion=criterion,
        score=normalise_rating(said.rating),
        reason=remove_citations(" ".join(said.reason.split()))[:REASON_CHARS],
        sentences=find_sentences(report, said.sentences),
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


def format_for_judge(report: Report, chars: int) -> str:
    """Return the report as a judge reads it: citations as numbers, and long sections shortened to the same length."""
    numbers = _number_citations(report)
    share = max(400, chars // max(1, len(report.sections)))
    parts = [_format_section(section, numbers)[:share] for section in report.sections]
    return as_data("\n\n".join([f"# {report.title}", *parts]))


def format_quotes(report: Report, chars: int, passages: Sequence[Passage] = ()) -> str:
    """Return what the report cites under its numbers, with the titles of the sources, as much as fits into `chars`.

    That is the quotation or, where one of `passages` holds it, this passage, once for all its numbers.
    """
    known = {quote.key: quote for quote in report.quotes}
    numbers: dict[str, str] = {}
    for key, number in _number_citations(report).items():
        if quote := known.get(key):
            line = f"{as_attribute(quote.source.title)}: {_widen(quote, passages)}"
            numbers[line] = f"{numbers.get(line, '')}[{number}]"
    return as_data("\n".join(f"{cited} {line}" for line, cited in numbers.items())[:chars])


def _widen(quote: Quote, passages: Sequence[Passage]) -> str:
    whole = next((passage.text for passage in passages if passage.holds(quote)), "")
    return whole if whole and not find_injections(whole) else _withhold_orders(quote.text)


def _number_citations(report: Report) -> dict[str, int]:
    """Return a number for each quote that the report cites, by its key, in the order of their first citations."""
    keys = dict.fromkeys(key for section in report.sections for key in MARKER.findall(section.body))
    return {key: number for number, key in enumerate(keys, 1)}


def _format_section(section: Section, numbers: Mapping[str, int]) -> str:
    kept = [block if not find_injections(MARKER.sub("", block)) else WITHHELD for block in section.body.split("\n\n")]
    text = MARKER.sub(lambda m: f"[{numbers[m.group(1)]}]", "\n\n".join(kept).replace(REMOVED, ""))
    return f"{'#' * section.level} {_withhold_orders(section.heading)}\n\n{text}"


def _withhold_orders(text: str) -> str:
    return WITHHELD if find_injections(text) else text
