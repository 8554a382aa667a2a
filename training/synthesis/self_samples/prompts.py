"""The prompts that a policy is asked: those of rows of another set, or one made of a recorded report's question and evidence."""

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

from app.domain.chat import ChatRole, Message
from app.domain.errors import InvalidInput
from app.domain.query import Language, detect_language
from app.domain.split import Split
from app.reports.rendering.numbering import number_citations
from training.evaluation.benchmarks.files import read_json_lines
from training.evaluation.harness.folder import ANSWERS
from training.synthesis.recorded_reports import RecordedReport, read_reports
from training.synthesis.training_set.folder import ROWS
from workflows.agents.untrusted import as_data, as_source
from workflows.prompts.library import PromptLibrary

PROMPT = "report_from_evidence"
MOST_CHARS = 60_000
NOTHING = "-"


@dataclass(frozen=True, slots=True)
class SamplePrompt:
    """A prompt with its evidence. `passages` is the highest number that an answer may cite; 0: the passages have no numbers."""

    query: str
    language: Language
    topic: str
    messages: tuple[Message, ...]
    documents: tuple[str, ...]
    passages: int = 0

    @property
    def id(self) -> str:
        """A hash of the messages."""
        said = "\n".join(message.model_dump_json() for message in self.messages)
        return hashlib.sha256(said.encode()).hexdigest()[:16]


def read_prompts(paths: Iterable[Path], prompts: PromptLibrary, today: date) -> Iterator[SamplePrompt]:
    """Yield the prompts of runs, of training sets (their training rows alone) and of files of JSON Lines.

    Raises:
        InvalidInput: a file cannot be read, or a row has neither a prompt nor what one is made of.
    """
    for path in paths:
        if (path / ANSWERS).exists():
            yield from (_read_report(report, prompts, today) for report in read_reports([path]) if report.answer.report)
            continue
        file = path / Split.TRAIN / ROWS if path.is_dir() else path
        yield from filter(None, read_json_lines(file, lambda row: _read_row(row, prompts, today)))


def _read_report(recorded: RecordedReport, prompts: PromptLibrary, today: date) -> SamplePrompt:
    """Make the prompt of a recorded report: its question, its headings, and what it cites."""
    answer, report = recorded.answer, recorded.answer.report
    if report is None:
        raise InvalidInput(f"{recorded.origin.run} has a report without its quotes")
    cited = [citation.quote for citation in number_citations(report).citations]
    return make_evidence_prompt(
        prompts,
        today,
        query=answer.question,
        language=answer.language,
        topic=answer.domain,
        outline=[section.heading for section in report.sections],
        texts=[(quote.source.url, quote.source.title, quote.text) for quote in cited],
    )


def _read_row(row: Mapping[str, Any], prompts: PromptLibrary, today: date) -> SamplePrompt | None:
    """Read a row with messages (`prompt`), or with `retrieval`: texts with address and title, and perhaps an `outline`.

    None where the retrieval is empty, as in the short form of report data.
    """
    if "prompt" in row:
        said = row["prompt"] if isinstance(row["prompt"], list) else [{"role": ChatRole.USER, "content": row["prompt"]}]
        messages = tuple(Message.model_validate(message) for message in said)
        query = str(row.get("query") or next(m.content for m in reversed(messages) if m.role is ChatRole.USER))
        language = Language(row["language"]) if row.get("language") else detect_language(query)
        return SamplePrompt(query, language, str(row.get("topic") or ""), messages, tuple(map(str, row.get("documents") or ())))
    if "retrieval" not in row:
        raise ValueError("it has neither a prompt nor a retrieval, so no evidence")
    if not row["retrieval"]:
        return None
    query = str(row["query"])
    sections = (row.get("outline") or {}).get("sections") or ()
    return make_evidence_prompt(
        prompts,
        today,
        query=query,
        language=Language(row["language"]) if row.get("language") else detect_language(query),
        topic=str(row.get("topic") or ""),
        outline=[str(section.get("heading") or "") for section in sections],
        texts=[(str(text["url"]), str(text["title"]), str(text["text"])) for text in row["retrieval"]],
    )


def make_evidence_prompt(
    prompts: PromptLibrary,
    today: date,
    query: str,
    language: Language,
    topic: str,
    outline: Iterable[str],
    texts: Iterable[tuple[str, str, str]],
) -> SamplePrompt:
    """Make a prompt with numbered passages, `texts`: address, title, text. Passages beyond a length are left out."""
    shown, addresses = list[str](), list[str]()
    room = MOST_CHARS
    for number, (address, title, text) in enumerate(texts, 1):
        room -= len(text)
        if room < 0:
            break
        shown.append(f"[{number}] {as_data(title)}: {as_source(text)}")
        addresses.append(address)
    headings = "\n".join(f"- {as_data(heading)}" for heading in outline if heading)
    messages = prompts.get(PROMPT, language).render(
        today=today.isoformat(), question=as_data(query), outline=headings or NOTHING, passages="\n\n".join(shown)
    )
    return SamplePrompt(query, language, topic, messages, tuple(dict.fromkeys(addresses)), len(shown))
