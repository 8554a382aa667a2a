"""How long a model's context is, as far as its server tells it in its list of models."""

import logging
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from app.domain.errors import ModelUnavailable
from workflows.chat_models.endpoint import ModelEndpoint
from workflows.chat_models.model_list import read_model_list

FIELDS = ("max_model_len", "context_length", "context_window", "max_context_length")
"""What servers call it: vLLM and SGLang; OpenRouter and Together; Groq; Mistral and LM Studio."""
log = logging.getLogger(__name__)


async def find_context_tokens(endpoint: ModelEndpoint) -> int:
    """Return the tokens of the model's context; 0 where its server does not tell, or cannot be asked now."""
    try:
        return next(_read_contexts(await read_model_list(endpoint), endpoint.model), 0)
    except ModelUnavailable as error:
        log.info("%s does not tell the context of %s: %s", endpoint.way, endpoint.model, error)
        return 0


def _read_contexts(models: Iterable[Mapping[str, Any]], name: str) -> Iterator[int]:
    return (model[field] for model in models if model["id"] == name for field in FIELDS if isinstance(model.get(field), int))
