"""The model where none is configured: every step that would need one is refused, and says why."""

from app.domain.chat import ChatRequest, Completion
from app.domain.errors import ModelRefused


class AbsentModel:
    """Refuses every request."""

    name = "none"

    async def complete(self, request: ChatRequest) -> Completion:
        """Never answers.

        Raises:
            ModelRefused: always.
        """
        raise ModelRefused("no model is configured; set RUBRICA_LLM_BASE_URL and RUBRICA_LLM_MODEL to name one")
