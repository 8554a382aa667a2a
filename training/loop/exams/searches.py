"""The exam of a searcher: held-out questions with known answers, worked by the product's own loop over local collections."""

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import Any

from pydantic import BaseModel, ValidationError, field_validator

from app.domain.errors import InvalidInput, ModelUnavailable, RubricaError
from app.domain.query import Language, SystemName
from app.domain.served_models import Notation
from app.settings import Settings, read_settings
from training.evaluation.harness.world import open_surroundings
from training.loop.exams.config import SearchExamConfig, SearchWorld
from training.loop.exams.held_out_rows import locate_sets, name_row, read_held_out
from training.loop.exams.marks import Marks, join_marks
from training.loop.exams.sitting import ExamSitting
from training.loop.gates.plan import COST, OF_COST
from training.loop.gates.scores import ItemScore
from training.recipes.judge_section import OpenKits, open_judges
from training.recipes.rollout_tools import MakeTools
from training.recipes.search_rl.agent import SEARCH_AGENT
from training.recipes.search_rl.data import NamedThing
from training.recipes.search_rl.outcome import judge_outcome, match_outcome
from training.rewards.score import Score
from training.rollouts.run_chain import ChainSetup, run_chain
from training.synthesis.catalogue import LOCATIONS
from workflows.agents.codec import SchemaCodec
from workflows.agents.ports import ChatModel
from workflows.systems.agent_sets import AGENTS
from workflows.systems.local_record import LocalRecord
from workflows.tools.tool_memory import DictToolStore, ToolMemory
from workflows.tools.toolbox import build_toolbox

ACCURACY, TOOL_CALLS = "search_accuracy", f"{OF_COST}tool_calls"


class AnswerLine(BaseModel):
    """What is read of a row: a question, and its answer, with other names or as a plain text."""

    id: str
    query: str
    language: Language
    answer: NamedThing

    @field_validator("answer", mode="before")
    @classmethod
    def _name_text(cls, said: Any) -> Any:
        return {"name": said} if isinstance(said, str) else said


@dataclass(frozen=True, slots=True)
class SearchExam:
    """How questions are worked and answers judged."""

    setup: ChainSetup
    open_kits: OpenKits
    room: asyncio.Semaphore

    async def compare(self, item: str, row: AnswerLine, sitting: ExamSitting) -> list[ItemScore]:
        """Return the scores of a question: of the holder's answer and of the candidate's."""
        async with self.room:
            before, after = await asyncio.gather(*(self._mark(row, model) for model in (sitting.holder, sitting.candidate)))
        return list(join_marks(row.query, item, before, after))

    async def _mark(self, row: AnswerLine, model: ChatModel) -> Marks:
        record = LocalRecord(row.id)
        right = await self._judge(row, await self._answer(row, model, record))
        return {ACCURACY: right, COST: float(record.usage.tokens), TOOL_CALLS: float(record.usage.tool_calls)}

    async def _answer(self, row: AnswerLine, model: ChatModel, record: LocalRecord) -> str:
        """Return what is delivered; nothing where the model brings no search to its end, which is wrong.

        Raises:
            ModelUnavailable: the model's server was away: what its agents made of that is no answer of the model.
        """
        try:
            delivered = (await run_chain(row.query, row.language, model, record, self.setup)).output
        except (RubricaError, ValidationError):
            delivered = ""
        if record.outage:
            raise ModelUnavailable(record.outage)
        return delivered

    async def _judge(self, row: AnswerLine, delivered: str) -> Score:
        if judges := self.open_kits(row.language):
            return await judge_outcome(judges, row.query, row.answer.entity, delivered)
        return match_outcome(row.answer.entity, delivered)


async def examine_searches(config: SearchExamConfig, sitting: ExamSitting) -> list[ItemScore]:
    """Have both work each question over the same state of the collections.

    Raises:
        NotFound, InvalidInput: the sets cannot be used, or an index has another state than the exam names.
        SetupError: another process has the collections open, or one is missing.
    """
    paths, forms = locate_sets(config.sets, sitting.own_set), dict.fromkeys(LOCATIONS, AnswerLine)
    rows = list(read_held_out(paths, forms, config.splits))[: config.most_items or None]
    if not rows:
        raise InvalidInput(f"no row of {', '.join(config.splits)} in {', '.join(map(str, paths))}")
    async with (
        _open_tools(config.world) as make_tools,
        open_judges([config.judge] if config.judge else [], sitting.folder, sitting.today) as open_kits,
    ):
        setup = _set_up(config, make_tools, sitting.notation)
        exam = SearchExam(setup, open_kits, asyncio.Semaphore(config.at_once))
        found = await asyncio.gather(*(exam.compare(name_row(path, sitting.own_set, row.id), row, sitting) for path, row in rows))
    return [score for scores in found for score in scores]


def _set_up(config: SearchExamConfig, make_tools: MakeTools, notation: Notation) -> ChainSetup:
    """Return the setup of the chain, which asks in the notation that the server of the models has."""
    system = config.system or SystemName.MINDDR
    setup = config.chain.set_up(system, AGENTS[system] if config.system else SEARCH_AGENT, make_tools)
    return setup if notation is Notation.TAGS else replace(setup, codec=SchemaCodec())


@asynccontextmanager
async def _open_tools(world: SearchWorld) -> AsyncIterator[MakeTools]:
    """Open the collections in this process. Nothing outside is asked; each rollout has tools with a memory of its own."""
    usual = read_settings(os.environ)
    settings = Settings(home=world.home, models_dir=usual.models_dir or usual.home / "models")
    async with open_surroundings(settings, world.collections) as opened:
        for name, state in world.states.items():
            if opened.corpora.get(name) != state:
                raise InvalidInput(f"the index of {name} has the state {opened.corpora.get(name)}, and the exam names {state}")
        found = opened.world
        yield lambda: build_toolbox(found.searcher, found.reader, found.corpora, ToolMemory(DictToolStore()))
