"""Ask the server of a version for it, before a person gives it a role."""

import os
from datetime import timedelta

from app.domain.errors import InvalidInput, ModelError
from app.domain.served_models import ServedModel
from app.settings import Settings
from workflows.durable.retraining.own_steps.probe import probe_model
from workflows.durable.served_setup import make_endpoint
from workflows.systems.local_record import OutagePatience

AT_ONCE = OutagePatience(first=timedelta(seconds=1), longest=timedelta(seconds=1), whole=timedelta(0))
"""A person waits for the answer: a server that is away is told of, and not waited for."""


async def require_answer(model: ServedModel, settings: Settings) -> None:
    """Require that a served model answers once, in its notation, as a cycle's step `serve` asks it.

    Raises:
        InvalidInput: nobody answers at its address, or the server does not have it; the message says what to do.
    """
    try:
        await probe_model(make_endpoint(model, settings, os.environ), model, AT_ONCE)
    except ModelError as error:
        raise InvalidInput(
            f"{model.name} is not promoted, for {model.address} does not answer with it: {error}; load it there "
            "(docs/serving.md), or say --unasked to promote it all the same"
        ) from error
