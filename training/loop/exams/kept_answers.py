"""The answers of an exam, kept as they come: a process that is started again asks for what nobody answered yet."""

from collections import Counter

from app.domain.chat import ChatRequest, Completion
from app.domain.trajectory import request_digest
from workflows.agents.ports import ChatModel
from workflows.judging.batch_record import AnswerStore

EXAM_ANSWERS = "exam-answers.sqlite"


class KeptModel:
    """A model whose answers are stored. What a process asks for the n-th time has the n-th answer that was stored for it.

    So an agent that asks once more gets another answer, and a process that goes on for a killed one gets the same ones.
    """

    def __init__(self, model: ChatModel, kept: AnswerStore) -> None:
        self._model = model
        self._kept = kept
        self._answered = Counter[str]()

    @property
    def name(self) -> str:
        """The model's own name."""
        return self._model.name

    async def complete(self, request: ChatRequest) -> Completion:
        """Return the stored answer, or a new one, which is stored before it is returned.

        Raises:
            ModelUnavailable, ModelRefused: as the model.
        """
        asked = request_digest(request, self.name)
        place = f"{asked} {self._answered[asked]}"
        self._answered[asked] += 1
        if (known := self._kept.get(place)) is not None:
            return known
        try:
            answer = await self._model.complete(request)
        except BaseException:
            self._answered[asked] -= 1
            raise
        self._kept.put(place, answer)
        return answer
