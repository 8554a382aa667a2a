"""The prompt of a pair that readers judged, from the evidence in their export: question, outline, and the quotes of all findings.

Both reports were written from the same findings. An outline is shown only where both have it, because a pair has one prompt.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path

from pydantic import ValidationError

from app.domain.errors import AnswerInvalid, InvalidInput
from app.domain.query import ResearchQuery
from app.preferences.nouns.evidence import RunEvidence
from training.evaluation.race_files import read_rows
from training.synthesis.self_samples.prompts import SamplePrompt, make_evidence_prompt
from workflows.agents.answer_reading import read_answer
from workflows.agents.effort import bounds_of
from workflows.agents.reporting.outline import OUTLINE, repair_outline
from workflows.prompts.library import PromptLibrary

EVIDENCE = "evidence.jsonl"


def read_evidence(export: Path) -> Mapping[str, RunEvidence]:
    """Read the evidence of an export by its pseudonyms; none where it was exported without.

    Raises:
        InvalidInput: a row cannot be read.
    """
    path = export / EVIDENCE
    try:
        found = map(RunEvidence.model_validate, read_rows(path)) if path.exists() else ()
        return {each.id: each for each in found}
    except ValidationError as error:
        raise InvalidInput(f"{path} is no evidence of an export: {error}") from error


def render_pair_prompt(
    prompts: PromptLibrary, query: ResearchQuery, evidence: RunEvidence, digests: Sequence[str]
) -> SamplePrompt | None:
    """Return a prompt from which both reports might have been written in one call; None where the evidence lacks a report."""
    steps = [evidence.reports[digest] for digest in digests if digest in evidence.reports]
    if len(steps) < len(digests):
        return None
    outlines = [_list_headings(step.outline, query) for step in steps]
    quotes = {quote.key: quote for finding in evidence.findings for quote in finding.quotes}
    return make_evidence_prompt(
        prompts,
        max(step.asked_on for step in steps),
        query=query.question,
        language=query.language,
        topic="",
        outline=outlines[0] if outlines[0] == outlines[-1] else (),
        texts=[(quote.source.url, quote.source.title, quote.text) for quote in quotes.values()],
    )


def _list_headings(said: str, query: ResearchQuery) -> list[str]:
    """Return the headings of an outline in the model's own words, as its report agent read them; none where there is none."""
    if not said:
        return []
    try:
        outline = repair_outline(read_answer(OUTLINE, said), bounds_of(query).sections, "")
    except AnswerInvalid:
        return []
    return [section.heading for section in outline.sections] if outline else []
