"""The stand-in when no model is configured: it refuses every step that needs a model, and says why."""

from app.domain.chat import ChatRequest, Completion
from app.domain.errors import ModelRefused


class AbsentModel:
    """A model that refuses every request."""

    name = "none"

    async def complete(self, request: ChatRequest) -> Completion:
        """Refuse the request.

        Raises:
            ModelRefused: always.
        """
        raise ModelRefused("no model is configured; set RUBRICA_LLM_BASE_URL and RUBRICA_LLM_MODEL to name one")
