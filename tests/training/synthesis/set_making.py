"""Makes a set of a kind with models of the test, and reads it."""

from pathlib import Path
from typing import Any

import orjson

from tests.training.synthesis.recorded_run_folders import TODAY
from training.decontamination.known_texts import KnownTexts
from training.evaluation.harness.manifest import ModelUsed
from training.evaluation.harness.models import RunModels, ServedModel
from training.synthesis.catalogue import load_kind
from training.synthesis.set_request import SetRequest
from training.synthesis.training_set.make_set import make_set
from training.synthesis.training_set.manifest import SetOrigin, TrainingSetManifest
from training.synthesis.workshop import Workshop
from workflows.agents.codec import SchemaCodec
from workflows.agents.ports import ChatModel
from workflows.prompts.library import PromptLibrary


def serve(model: ChatModel | None, codec: str = "schema") -> ServedModel | None:
    return ServedModel(model, ModelUsed(name=model.name, codec=codec)) if model else None


async def make_kind(
    request: SetRequest, writer: ChatModel | None = None, verifier: ChatModel | None = None, generator: ChatModel | None = None
) -> TrainingSetManifest:
    """Make the set, as `rubrica data make` does, with these models."""
    models = RunModels(serve(writer), serve(verifier))
    workshop = Workshop(request, (), models, PromptLibrary.load(), SchemaCodec(), TODAY, serve(generator, "tags"))
    recipe = load_kind(request.kind).open_recipe(workshop)
    origin = SetOrigin(
        kind=request.kind,
        wanted=request.rows,
        seed=request.seed,
        code="c",
        today=TODAY,
        consents_at=recipe.consents_at,
        base=dict(recipe.base),
        notation=recipe.notation,
    )
    return await make_set(recipe, origin, request.out, KnownTexts(), request.at_once)


def read_rows(out: Path) -> list[dict[str, Any]]:
    return [orjson.loads(line) for file in sorted(out.glob("*/rows.jsonl")) for line in file.read_bytes().splitlines()]


def read_refused(out: Path) -> list[dict[str, Any]]:
    return [orjson.loads(line) for line in (out / "refused.jsonl").read_bytes().splitlines()]
