"""The parts of a benchmark: examples, answers, scoring."""

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
from training.evaluation.harness.figures import BenchmarkFigure
from training.evaluation.harness.judging import Judging
from training.evaluation.harness.scores import ItemScores

G = TypeVar("G")


class QuestionOrigin(StrEnum):
    """The origin of questions: published with a benchmark, a set of graph queries or evidence trees, or readers."""

    PUBLIC = "public"
    GRAPH = "graph"
    TREE = "tree"
    READERS = "product"


@dataclass(frozen=True, slots=True)
class Example(Generic[G]):
    """One question with the data that its scoring needs. `id` is unique in its benchmark; `hops` is 0 where they are unknown."""

    id: str
    question: str
    language: Language
    gold: G
    domain: str = ""
    hops: int = 0


class BenchmarkAnswer(Value):
    """The answer to one example: a report's Markdown, or the ranked documents of a search.

    `report` is set where a system of ours wrote it. `pages` maps the address of each cited page to the hash under which the run
    stores its text. `failed` says why there is no answer; a continued run tries such an item again. `question` is empty in runs
    older than it.
    """

    item: str
    question: str = ""
    language: Language = Language.ENGLISH
    domain: str = ""
    hops: int = 0
    text: str = ""
    report: Report | None = None
    ranking: tuple[str, ...] = ()
    pages: dict[str, str] = Field(default_factory=dict)
    usage: Usage = Usage()
    seconds: float = 0.0
    failed: str = ""


class AnswererKind(StrEnum):
    """The kind of source of a benchmark's answers: a research system, the search, or nobody (examples bring the texts)."""

    BY_SYSTEM = "system"
    BY_SEARCH = "search"
    BY_NOBODY = "nobody"


@dataclass(frozen=True, slots=True)
class BenchmarkInput:
    """The input of a benchmark: its folder or file, the wanted variant, and for RACE the file of reference reports."""

    data: Path
    variant: str = ""
    reference: Path | None = None


@dataclass(frozen=True, slots=True)
class Benchmark(Generic[G]):
    """A benchmark: the reader of its published files, the scoring of an answer, and its figures (the main one first).

    `prompts` names the prompts of its judge; runs judged with other prompts are not comparable. `files` returns the files that
    `read` reads, for the manifest. `variants` are its ways of scoring, the first by default. `corpus`, where the benchmark has
    one, writes it under a folder and names it as a collection. `judged_text` returns the judged part of a report. In
    `written_variants` the systems' model writes what is judged, though no system runs. `questions` is their origin.
    """

    name: str
    about: str
    files: Callable[[BenchmarkInput], Sequence[Path]]
    read: Callable[[BenchmarkInput], Sequence[Example[G]]]
    score: Callable[[Example[G], BenchmarkAnswer, Judging], Awaitable[ItemScores]]
    figures: Mapping[str, BenchmarkFigure]
    prompts: tuple[str, ...] = ()
    answered: AnswererKind = AnswererKind.BY_SYSTEM
    variants: tuple[str, ...] = ("",)
    corpus: Callable[[BenchmarkInput, Path], Collection] | None = None
    prompts_of_variant: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    judged_text: Callable[[str], str] = str
    written_variants: tuple[str, ...] = ()
    questions: QuestionOrigin = QuestionOrigin.PUBLIC

    def prompts_for(self, variant: str) -> tuple[str, ...]:
        """Return the prompts of its judge in this variant; none where no judge is asked."""
        return self.prompts_of_variant.get(variant, self.prompts)


AnyBenchmark = Benchmark[Any]
