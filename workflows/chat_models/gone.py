"""The stand-in for a served model that is gone."""

from dataclasses import dataclass

from app.domain.chat import ChatRequest, Completion
from app.domain.errors import ModelGone


@dataclass(frozen=True, slots=True)
class GoneModel:
    """A model that refuses every request, because no server has it any more."""

    name: str

    async def complete(self, request: ChatRequest) -> Completion:
        """Refuse the request.

        Raises:
            ModelGone: always.
        """
        raise ModelGone(f"no server has the model {self.name!r} any more")
