"""The models of a stage: what its own server has, and what writes its rubrics."""

import os
import tomllib
from pathlib import Path

from app.domain.errors import InvalidInput
from app.domain.retraining import StepTask
from app.domain.served_models import ServedModel
from app.domain.training_stage import THE_GENERATOR, ModelServer
from app.settings import Codec
from training.loop.exams.config import AnyExam, ReportExamConfig
from training.loop.stage_task import require_stage
from training.recipes.config import find_base
from training.recipes.judge_section import JudgeSection
from training.synthesis.named_models import NamedModel
from workflows.chat_models.endpoint import ModelEndpoint, ModelPrices

NOBODY = (
    "nobody writes rubrics: no model has the role rubric, and no stage before this one made a version that serves; give the role "
    "to a model (`rubrica registry promote`)"
)


def endpoint_of(server: ModelServer, name: str) -> ModelEndpoint:
    """Return the endpoint of a model at a stage's server."""
    return ModelEndpoint(
        server.address, name, _read_key(server.key_setting), ModelPrices(server.input_price, server.output_price)
    )


def name_policy(server: ModelServer) -> NamedModel:
    """Return the model that a stage's set samples: the base, from which the recipe begins, whatever has the role by now."""
    return NamedModel(endpoint_of(server, server.base), Codec(server.notation.value))


def find_policy_base(config: Path, models: Path) -> str:
    """Return the weights of the policy as a set of samples names them: what the recipe has under [model] base.

    Raises:
        InvalidInput: the file is no TOML, or names none.
    """
    try:
        section = tomllib.loads(config.read_text(encoding="utf-8"))["model"]
        base, revision = find_base(str(section["base"]), [config.parent, models]), section.get("revision", "")
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InvalidInput(f"{config.name} is no TOML: {error}") from error
    except (KeyError, TypeError) as error:
        raise InvalidInput(f"{config.name} names no [model] base, and a set samples the weights that it begins with") from error
    return f"{base}@{revision}" if revision else base


def lacks_generator(task: StepTask, exams: list[AnyExam]) -> bool:
    """Return whether set or exams of a stage want a generator of rubrics, and there is none."""
    asked = any(isinstance(exam, ReportExamConfig) and exam.generator == THE_GENERATOR for exam in exams)
    return task.generator is None and (asked or require_stage(task).generator is not None)


def name_generator_of(task: StepTask) -> NamedModel | None:
    """Return what writes the rubrics of a stage's set; None where the stage names no generator."""
    model = task.generator
    if model is None or require_stage(task).generator is None:
        return None
    prices = ModelPrices(model.input_price, model.output_price)
    return NamedModel(ModelEndpoint(model.address, model.name, _read_key(model.key_setting), prices), Codec(model.notation.value))


def describe_generator(model: ServedModel | None) -> JudgeSection | None:
    """Return what writes rubrics in the form in which exams name it."""
    if model is None:
        return None
    return JudgeSection(url=model.address, model=model.name, key_from=model.key_setting, codec=model.notation.value)


def _read_key(setting: str) -> str:
    return os.environ.get(setting, "") if setting else ""
