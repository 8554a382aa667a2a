"""The items of an exam of reports: the served prompt of the one writing call, with its evidence and perhaps a rubric."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from functools import partial
from itertools import chain
from pathlib import Path

from pydantic import BaseModel

from app.domain.chat import Message
from app.domain.errors import InvalidInput
from app.domain.query import Language
from app.domain.rubric import Rubric
from training.loop.exams.config import ReportExamConfig
from training.loop.exams.held_out_rows import locate_sets, name_row, read_held_out
from training.loop.exams.sitting import ExamSitting
from training.rewards.notations import Notation
from training.synthesis.recorded_runs import is_run
from training.synthesis.report_data.recorded_report import ReportTaskRow
from training.synthesis.self_samples.prompts import SamplePrompt, make_prompt, read_prompts
from workflows.agents.codec import TagCodec
from workflows.agents.kit import Kit
from workflows.agents.reporting.whole_prompt import WHOLE_REPORT
from workflows.agents.shown_passages import ShownPassage, read_documents
from workflows.prompts.library import PromptLibrary
from workflows.systems.local_record import LocalRecord


class SampledLine(BaseModel):
    """What is read of a row of self-samples. `asked_on` is None in sets that are older than it."""

    id: str
    query: str
    language: Language
    topic: str = ""
    documents: tuple[str, ...] = ()
    prompt: tuple[Message, ...]
    rubric: Rubric | None = None
    asked_on: date | None = None


FORMS: Mapping[str, type[ReportTaskRow] | type[SampledLine]] = {"report-data": ReportTaskRow, "self-samples": SampledLine}


@dataclass(frozen=True, slots=True)
class ReportItem:
    """A report that is asked for. `passages` are those that its writer is shown, by the ids that it cites them by."""

    id: str
    prompt: SamplePrompt
    passages: Mapping[str, ShownPassage]
    rubric: Rubric | None = None


def read_items(config: ReportExamConfig, sitting: ExamSitting) -> list[ReportItem]:
    """Read the items of an exam, each prompt once. No model is asked.

    Raises:
        NotFound: a folder holds neither a run nor a finished set.
        InvalidInput: a set cannot be used, or there is no item: rows of the short form have no evidence, and no prompt.
    """
    prompts = PromptLibrary.load()
    paths = locate_sets(config.sets, sitting.own_set)
    runs = [path for path in paths if is_run(path)]
    sets = [path for path in paths if path not in runs]
    read = chain(
        _read_sets(sets, config, sitting, prompts),
        chain.from_iterable(_read_run(path, sitting, prompts) for path in runs),
    )
    found = list({item.prompt.id: item for item in read}.values())[: config.most_items or None]
    if not found:
        raise InvalidInput(f"no row of {', '.join(config.splits)} in {', '.join(map(str, paths))} has a prompt with evidence")
    return found


def _read_sets(
    paths: Sequence[Path], config: ReportExamConfig, sitting: ExamSitting, prompts: PromptLibrary
) -> Iterator[ReportItem]:
    for folder, row in read_held_out(paths, FORMS, config.splits):
        name = name_row(folder, sitting.own_set, row.id)
        if isinstance(row, SampledLine):
            yield _make_item(name, _take_prompt(row, sitting.today, prompts), row.rubric)
        elif row.retrieval:
            yield _make_item(name, make_prompt(row, prompts, row.asked_on or sitting.today))


def _read_run(path: Path, sitting: ExamSitting, prompts: PromptLibrary) -> Iterator[ReportItem]:
    open_kit = partial(_open_kit, sitting, prompts)
    return (_make_item(f"{path}/{prompt.id}", prompt) for prompt in read_prompts(path, prompts, sitting.today, open_kit))


def _open_kit(sitting: ExamSitting, prompts: PromptLibrary, language: Language) -> Kit:
    """Return the kit by which a run is read. Its model is asked nothing."""
    record = LocalRecord("prompts")
    return Kit(sitting.holder, {}, record, prompts, TagCodec(), sitting.today, lambda: 0.0, language=language)


def _take_prompt(row: SampledLine, today: date, prompts: PromptLibrary) -> SamplePrompt:
    tags = TagCodec().describe_form(WHOLE_REPORT, prompts, row.language)
    return SamplePrompt(
        query=row.query,
        language=row.language,
        topic=row.topic,
        messages=row.prompt,
        documents=row.documents,
        ids=tuple(shown.id for shown in read_documents(row.prompt[-1].content)),
        notation=Notation.TAGS if any(tags in message.content for message in row.prompt) else Notation.SCHEMA,
        asked_on=row.asked_on or today,
    )


def _make_item(name: str, prompt: SamplePrompt, rubric: Rubric | None = None) -> ReportItem:
    shown = {passage.id: passage for passage in read_documents(prompt.messages[-1].content)}
    return ReportItem(name, prompt, shown, rubric)
