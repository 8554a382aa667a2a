"""The parts of a run: the source of its answers, its judge, and their entries in the manifest."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import Any

from app.domain.errors import InvalidInput, SetupError
from app.domain.query import SystemName
from app.settings import Settings
from training.evaluation.benchmarks.files import read_reports
from training.evaluation.harness.answering import Answerer, EmptyAnswerer, FileAnswerer, SearchAnswerer, SystemAnswerer
from training.evaluation.harness.caps import NO_CAPS
from training.evaluation.harness.example import AnswererKind, AnyBenchmark, BenchmarkInput, Example
from training.evaluation.harness.folder import RunFolder
from training.evaluation.harness.judging import Judging
from training.evaluation.harness.manifest import JudgeUsed, RunManifest, SystemUsed, digest_files
from training.evaluation.harness.models import ModelFiles, RunModels, ServedModel, codec_of, open_models
from training.evaluation.harness.run_request import RunRequest
from training.evaluation.harness.world import SearchSurroundings, open_surroundings
from workflows.agents.brief import BRIEF
from workflows.agents.kit import Kit
from workflows.agents.ports import ChatModel
from workflows.chat_models.absent import AbsentModel
from workflows.chat_models.at_temperature import ModelAtTemperature
from workflows.judging.batch_record import BatchRecord
from workflows.prompts.library import PromptLibrary
from workflows.systems.agent_sets import AGENTS

SEARCH, NOBODY, FILE, WRITER = "search", "none", "file", "writer"


@dataclass(frozen=True, slots=True)
class RunParts:
    """The parts of a run. `around` is None where nothing is searched, `judge` is None where nothing is judged."""

    settings: Settings
    wanted: RunRequest
    benchmark: AnyBenchmark
    prompts: PromptLibrary
    models: RunModels
    judge: ServedModel | None
    around: SearchSurroundings | None
    variant: str = ""

    @property
    def _writer(self) -> ServedModel | None:
        """The model that writes what is judged; the judge where there is no other."""
        return (self.models.system or self.judge) if self.variant in self.benchmark.written_variants else None

    def describe_system(self) -> SystemUsed:
        """Describe the source of the answers, for the manifest."""
        if self.benchmark.answered is AnswererKind.BY_NOBODY:
            return SystemUsed(name=WRITER, model=self._writer.used) if self._writer else SystemUsed(name=NOBODY)
        if self.wanted.fleet:
            return self._describe_fleet()
        if self.around is None:
            assert self.wanted.reports is not None
            return SystemUsed(name=FILE, reports=next(iter(digest_files([self.wanted.reports]).values())))
        corpora = dict(self.around.corpora)
        if self.benchmark.answered is AnswererKind.BY_SEARCH:
            return SystemUsed(name=SEARCH, corpora=corpora)
        return SystemUsed(
            name=self.wanted.system.value,
            effort=self.wanted.effort.value,
            composition=self.wanted.composition or "",
            one_conversation=self.wanted.one_conversation,
            model=self.models.system.used if self.models.system else None,
            corpora=corpora,
            services=self.around.services,
            caps=self.wanted.caps,
            temperature=self.wanted.temperature,
        )

    def _describe_fleet(self) -> SystemUsed:
        """Describe the system of a stack, which does not tell the generations of its indexes."""
        own = self.benchmark.corpus(BenchmarkInput(self.wanted.data), self.settings.home) if self.benchmark.corpus else None
        return SystemUsed(
            name=self.wanted.system.value,
            effort=self.wanted.effort.value,
            composition=self.wanted.composition or "",
            one_conversation=self.wanted.one_conversation,
            model=self.models.system.used if self.models.system else None,
            corpora=dict.fromkeys(self.wanted.collections or ((own.name,) if own else ()), ""),
            services=tuple(sorted(self.settings.services)),
            fleet=True,
        )

    def describe_judge(self, examples: Sequence[Example[Any]], variant: str) -> JudgeUsed:
        """Describe the judge, with its prompts in the languages of these examples."""
        if self.judge is None:
            return JudgeUsed()
        languages = sorted({example.language for example in examples})
        asked = [self.prompts.get(name, language) for name in self.benchmark.prompts_for(variant) for language in languages]
        prompts = {f"{p.name}/{p.version}/{p.language.value}": p.digest for p in asked}
        return JudgeUsed(model=self.judge.used, prompts=prompts, most_chars=self.wanted.judge_chars)

    def build_judging(self, record: BatchRecord, manifest: RunManifest, folder: RunFolder) -> Judging:
        """Build the judging of this run."""
        kit, writer = (
            Kit(
                asked.chat if asked else AbsentModel(),
                {},
                record,
                self.prompts,
                codec_of(self.settings),
                manifest.today,
                lambda: 0.0,
            )
            for asked in (self.judge, self._writer)
        )
        return Judging(kit, writer, folder.read_page, folder.read_turns, manifest.variant, manifest.judge.most_chars)

    def build_answerer(self, manifest: RunManifest, folder: RunFolder) -> Answerer:
        """Build the source of the answers.

        Raises:
            SetupError: the system needs a model.
        """
        if self.benchmark.answered is AnswererKind.BY_NOBODY:
            return EmptyAnswerer()
        if self.around is None:
            assert self.wanted.reports is not None
            return FileAnswerer(read_reports(self.wanted.reports), folder)
        if self.benchmark.answered is AnswererKind.BY_SEARCH:
            return SearchAnswerer(self.around.world.searcher, next(iter(self.around.corpora)))
        return self._build_system_answerer(self.around, manifest, folder)

    def _build_system_answerer(self, around: SearchSurroundings, manifest: RunManifest, folder: RunFolder) -> SystemAnswerer:
        asked, name = self.models.system, self.wanted.system
        if asked is None and name is not SystemName.MINDDR:
            raise SetupError(f"the system {name.value} needs a model: set RUBRICA_LLM_BASE_URL and RUBRICA_LLM_MODEL")
        return SystemAnswerer(
            system=name,
            effort=self.wanted.effort,
            composition=self.wanted.composition,
            one_conversation=self.wanted.one_conversation,
            agents=AGENTS[name] if asked else BRIEF,
            chat=self._set_temperature(asked.chat) if asked else AbsentModel(),
            codec=codec_of(self.settings),
            prompts=self.prompts,
            world=around.world,
            today=manifest.today,
            folder=folder,
            caps=self.wanted.caps,
        )

    def _set_temperature(self, chat: ChatModel) -> ChatModel:
        wanted = self.wanted.temperature
        return chat if wanted is None else ModelAtTemperature(chat, wanted)


def _require_fleet_fit(wanted: RunRequest, benchmark: AnyBenchmark) -> None:
    if wanted.reports is not None or benchmark.answered is not AnswererKind.BY_SYSTEM:
        raise InvalidInput("a fleet runs a research system, and none is asked here; leave --fleet out")
    if wanted.model_file is not None or wanted.caps != NO_CAPS:
        raise InvalidInput(
            "a fleet works with its stack's own model and limits; leave --fleet, or the model file and the limits, out"
        )


@asynccontextmanager
async def open_run_parts(
    settings: Settings, wanted: RunRequest, benchmark: AnyBenchmark, variant: str
) -> AsyncIterator[RunParts]:
    """Open the models and the search of a run.

    Raises:
        SetupError: a model or a corpus that is needed is missing.
        InvalidInput: a fleet is asked for where no system runs.
    """
    async with open_models(settings, ModelFiles(wanted.model_file, wanted.judge_file, wanted.threads)) as models:
        judge = models.require_judge() if benchmark.prompts_for(variant) else None
        parts = RunParts(settings, wanted, benchmark, PromptLibrary.load(), models, judge, None, variant)
        if wanted.fleet:
            _require_fleet_fit(wanted, benchmark)
        if wanted.fleet or wanted.reports is not None or benchmark.answered is AnswererKind.BY_NOBODY:
            yield parts
            return
        own = (
            benchmark.corpus(BenchmarkInput(wanted.data), settings.home) if benchmark.corpus and not wanted.collections else None
        )
        async with open_surroundings(settings, wanted.collections, own) as around:
            yield replace(parts, around=around)
