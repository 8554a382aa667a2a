"""Runs of recipes' parts for a task: folders to train in, and policies to ask."""

import gc
import hashlib
import json
import shutil
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from bench.learning_tasks.beginnings import Start, open_tokenizer
from training.decontamination.known_texts import KnownTexts
from training.recipes.chatml import MaskedIds
from training.recipes.config import BaseModelSection, RecipeConfig
from training.recipes.run_folder import CHECKPOINTS, TrainingFolder, TrainingOrigin
from training.recipes.starting import name_device, train
from training.rewards.notations import Notation
from training.synthesis.training_set.finishing import finish_set
from training.synthesis.training_set.folder import SetFolder
from training.synthesis.training_set.manifest import SetOrigin
from training.synthesis.training_set.outcome import KeptRow, RefusedCandidate, WorkedCandidate
from training.synthesis.training_set.recipe import SetRecipe
from workflows.agents.ports import Record

BEGAN = datetime(2026, 11, 2, tzinfo=UTC)


@contextmanager
def open_training(path: Path, recipe: str, config: RecipeConfig) -> Iterator[TrainingFolder]:
    """Open a folder to train in. Its checkpoints go with the end of the run."""
    drop_earlier_weights()
    origin = TrainingOrigin(
        recipe=recipe,
        config=config.model_dump(mode="json"),
        code="",
        packages={},
        data={},
        base={},
        device=name_device(config),
        started_at=BEGAN,
    )
    folder = TrainingFolder(path)
    with folder.open_run(origin):
        yield folder
    drop_checkpoints(folder)


def drop_earlier_weights() -> None:
    """Free the weights of earlier runs: a trainer and its parts hold each other, so that they outlive their run."""
    gc.collect()


def drop_checkpoints(folder: TrainingFolder) -> None:
    """Delete the checkpoints of a run that is over: with the optimizer's state one is three times as large as its model."""
    shutil.rmtree(folder.path / CHECKPOINTS, ignore_errors=True)


def train_on_examples(path: Path, config: RecipeConfig, examples: Sequence[MaskedIds]) -> Path:
    """Fine-tune on examples; return the folder of the model."""
    from training.recipes.ordering import lay_out_epochs
    from training.recipes.supervised import open_supervised
    from training.recipes.training_loop import finish, train_on

    with open_training(path, "sft", config) as folder:
        trainer = open_supervised(config, folder, lay_out_epochs(examples, config.optimizer.epochs, config.run.seed))
        train_on(trainer, folder)
        finish(trainer, config, folder)
        return folder.model


@asynccontextmanager
async def open_saved(model: Path, start: Start, section: Any, temperature: float) -> AsyncIterator[Any]:
    """Open a saved policy as rollouts ask it: an `OpenPolicy`. `section` is the `[rollouts]` of a configuration."""
    from training.recipes.policy import load_model
    from training.recipes.reinforcement.policy_source import NAME, open_policy
    from training.rollouts.chat_template import ChatTemplate
    from training.rollouts.transformers_engine import TransformersEngine, lend

    drop_earlier_weights()
    tokenizer = open_tokenizer(model)
    weights = load_model(BaseModelSection(base=str(model)), str(model), start.dtype).to(
        "cpu" if start.device == "cpu" else "cuda"
    )
    engine = TransformersEngine(NAME, lend(weights), pad_id=tokenizer.pad_token_id, rows=64)
    yield open_policy(engine, ChatTemplate(tokenizer), section, tokenizer.eos_token_id, temperature)


def derive_seed(*told: object) -> int:
    """Return a seed that depends on what is told only."""
    return int.from_bytes(hashlib.sha256(repr(told).encode()).digest()[:4], "big")


def train_recipe(folder: Path, recipe: str, sections: Mapping[str, Mapping[str, Any]]) -> Path:
    """Train by the function behind `rubrica train`, from a TOML file with these sections; return the folder of the model."""
    drop_earlier_weights()
    folder.mkdir()
    lines = [
        f"[{name}]\n" + "".join(f"{key} = {json.dumps(value)}\n" for key, value in said.items())
        for name, said in sections.items()
    ]
    config = folder / "config.toml"
    config.write_text("\n".join(lines), encoding="utf-8")
    trained = train(recipe, config, folder / "run", None, lambda _: None)
    drop_checkpoints(trained)
    return trained.model


def write_rows(folder: Path, kind: str, rows: Sequence[KeptRow]) -> Path:
    """Write rows that are there already as a finished set of a kind. Policies of the tasks are asked in tags."""
    worked = [WorkedCandidate(candidate=f"row-{n}", kept=row) for n, row in enumerate(rows)]
    origin = SetOrigin(kind=kind, wanted=len(rows), seed=0, code="", today=BEGAN.date(), notation=Notation.TAGS)
    with SetFolder(folder).open_work(origin):
        finish_set(SetFolder(folder), origin, SetRecipe((), refuse_work), worked, KnownTexts(), {})
    return folder


async def refuse_work(candidate: object, _: Record) -> KeptRow | RefusedCandidate:
    """Stand where a recipe makes a row: these rows are there already."""
    raise AssertionError(f"{candidate} has its row")
