"""What a benchmark is made of: examples, what was answered, how it is scored."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any, Generic, TypeVar

from pydantic import Field

from app.domain.budget import Usage
from app.domain.query import Language
from app.domain.report import Report
from app.domain.value import Value
from retrieval.store.catalogue import Collection
from training.evaluation.harness.figures import Figure
from training.evaluation.harness.judging import Judging
from training.evaluation.harness.scores import Scores

G = TypeVar("G")


@dataclass(frozen=True, slots=True)
class Example(Generic[G]):
    """One question with what its scoring needs. `id` is unique in its benchmark."""

    id: str
    question: str
    language: Language
    gold: G
    domain: str = ""


class Answer(Value):
    """What was answered: a report's Markdown, or for retrieval the ranked documents.

    `report` is there where a system of ours wrote it. `pages` are the texts of what it cites, by address, each named by the
    hash under which the run keeps it. `failed` says why there is no answer; such an item is worked again when the run goes on.
    """

    item: str
    text: str = ""
    report: Report | None = None
    ranking: tuple[str, ...] = ()
    pages: dict[str, str] = Field(default_factory=dict)
    usage: Usage = Usage()
    seconds: float = 0.0
    failed: str = ""


class Answered(StrEnum):
    """What answers a benchmark's questions: a research system, the search alone, or nobody (reports come with the examples)."""

    BY_SYSTEM = "system"
    BY_SEARCH = "search"
    BY_NOBODY = "nobody"


@dataclass(frozen=True, slots=True)
class Reading:
    """What a benchmark reads: its folder or file, the variant asked for, and for RACE the file of reference reports."""

    data: Path
    variant: str = ""
    reference: Path | None = None


@dataclass(frozen=True, slots=True)
class Benchmark(Generic[G]):
    """A benchmark: how its published files are read, how an answer is scored, which figures are told (the main one first).

    `prompts` names those its judge is asked with: runs judged with others are not comparable. `files` are what `read` reads of
    the data, for the manifest; `variants` the ways of scoring one may ask for, the first by default. `corpus`, where the
    benchmark brings one, writes it under a folder and names it as a collection. `judged_text` is what of a report is judged.
    """

    name: str
    about: str
    files: Callable[[Reading], Sequence[Path]]
    read: Callable[[Reading], Sequence[Example[G]]]
    score: Callable[[Example[G], Answer, Judging], Awaitable[Scores]]
    figures: Mapping[str, Figure]
    prompts: tuple[str, ...] = ()
    answered: Answered = Answered.BY_SYSTEM
    variants: tuple[str, ...] = ("",)
    corpus: Callable[[Reading, Path], Collection] | None = None
    prompts_of_variant: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    judged_text: Callable[[str], str] = str

    def asked_with(self, variant: str) -> tuple[str, ...]:
        """The prompts its judge is asked with when scoring in this way; none where no judge is asked."""
        return self.prompts_of_variant.get(variant, self.prompts)


AnyBenchmark = Benchmark[Any]
