"""The servers that a plan names, asked once whether they have the models that a cycle would ask there."""

import asyncio
from pathlib import Path

from app.domain.errors import ModelUnavailable
from app.domain.retraining import CyclePlan, StepTask
from app.outgoing.way_out import hide_login
from training.loop.check_plan import describe_task
from training.loop.exams.config import ReportExamConfig
from training.loop.stage_gate import read_exams
from training.loop.stage_judges import list_reward_judges
from training.loop.stage_models import endpoint_of
from training.loop.stage_task import require_stage
from training.recipes.judge_section import JudgeSection
from workflows.chat_models.endpoint import ModelEndpoint
from workflows.chat_models.model_list import read_model_list


async def ask_servers(path: Path, plan: CyclePlan) -> list[str]:
    """Ask each model's server once, and return a line for each: it has the model, or lists others, or does not answer."""
    tasks = (describe_task(path, plan, stage) for stage in plan.stages)
    endpoints = {(each.base_url, each.model): each for task in tasks for each in list_endpoints(task)}
    return await asyncio.gather(*map(_ask, endpoints.values()))


def list_endpoints(task: StepTask) -> list[ModelEndpoint]:
    """List the models that a stage asks: its base, the judges of the reward, and those of its exams."""
    stage, exams = require_stage(task), read_exams(task)
    named = [*list_reward_judges(Path(task.plan) / stage.config), *(exam.judge for exam in exams)]
    named += [exam.generator for exam in exams if isinstance(exam, ReportExamConfig) and isinstance(exam.generator, JudgeSection)]
    return [endpoint_of(stage.server, stage.server.base), *(judge.endpoint for judge in named if judge is not None)]


async def _ask(endpoint: ModelEndpoint) -> str:
    try:
        names = [str(model["id"]) for model in await read_model_list(endpoint)]
    except ModelUnavailable as error:
        return f"warning: {endpoint.model} is to be asked, and there is {error}"
    if endpoint.model in names:
        return f"{hide_login(endpoint.base_url)} has {endpoint.model}"
    return f"warning: {hide_login(endpoint.base_url)} does not list {endpoint.model}; it has {', '.join(names) or 'no model'}"
