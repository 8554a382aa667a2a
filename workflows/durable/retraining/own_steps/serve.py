"""The step that loads a version on its server and asks it through the product's own chain, before anybody gets it."""

import asyncio
import os
from collections.abc import Mapping

from app.domain.errors import ModelError, ModelUnavailable
from app.domain.retraining import Cycle, StepOutcome, StepVerdict
from app.domain.served_models import ServedModel
from app.models.service.cycle_order import Step
from app.models.service.serving import add_model
from workflows.chat_models.adapters import load_adapter
from workflows.chat_models.endpoint import ModelEndpoint
from workflows.durable.persistence import persist
from workflows.durable.retraining.interruption import ServerAway
from workflows.durable.retraining.own_steps.probe import probe_model
from workflows.durable.retraining.own_steps.stage_version import get_stage_version, require_stage
from workflows.durable.retraining.workplace import LoopWorkplace


async def serve_version(place: LoopWorkplace, cycle: Cycle, step: Step, outcomes: Mapping[str, StepOutcome]) -> StepOutcome:
    """Load, probe, and note the served model. Its name is new, so no run has it yet.

    Raises:
        ServerAway: the server does not answer.
        Unavailable: nor does the store of artifacts.
    """
    stage = require_stage(step)
    version = await persist(lambda: get_stage_version(place, cycle, stage))
    server = stage.server
    endpoint = ModelEndpoint(server.address, version.name, os.environ.get(server.key_setting, "") if server.key_setting else "")
    model = ServedModel(
        name=version.name,
        address=server.address,
        key_setting=server.key_setting,
        notation=server.notation,
        temperature=server.temperature,
        input_price=server.input_price,
        output_price=server.output_price,
        adapter=version.artifact,
        base=server.base,
        version=version.id,
    )
    folder = await asyncio.to_thread(place.artifacts.get, version.artifact)
    try:
        await load_adapter(endpoint, version.name, folder)
        await probe_model(endpoint, model)
    except ModelUnavailable as error:
        raise ServerAway(str(error)) from error
    except ModelError as error:
        return StepOutcome(verdict=StepVerdict.FAILED, detail=f"{version.name} is not served: {error}")

    async def add() -> None:
        async with place.database.acquire() as connection, connection.transaction():
            await add_model(connection, model)

    await persist(add)
    return StepOutcome(verdict=StepVerdict.DONE, figures={"served": version.name})
