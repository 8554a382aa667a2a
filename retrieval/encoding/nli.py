"""A cross-encoder of natural-language inference from a model hub: does a premise entail or contradict a hypothesis?"""

import threading
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from typing import Any, NamedTuple

from app.domain.errors import SetupError, ToolError

ENTAILED, CONTRADICTED = "entail", "contradict"


class InferenceLabels(NamedTuple):
    """The places of the two needed labels among a model's outputs."""

    entailed: int
    contradicted: int


class CrossEncoderNli:
    """A cross-encoder, loaded by sentence-transformers at the first call. Threads may share it.

    `model` is a hub name or a folder.
    """

    def __init__(self, model: str) -> None:
        if find_spec("sentence_transformers") is None:
            raise SetupError("RUBRICA_NLI_MODEL needs `.venv/bin/pip install 'rubrica[torch]'`; or unset it")
        self._name = model
        self._lock = threading.Lock()
        self._model: Any = None

    def __call__(self, pairs: Sequence[tuple[str, str]]) -> list[tuple[float, float]]:
        """Return the probabilities of entailment and of contradiction for each premise and hypothesis.

        Raises:
            ToolError: the model cannot be loaded, or lacks the labels of inference.
        """
        with self._lock:
            model = self._model = self._model or self._load()
            labels = inference_labels_of(model.config.id2label)
            rows = model.predict(list(pairs), apply_softmax=True, show_progress_bar=False)
        return [(float(row[labels.entailed]), float(row[labels.contradicted])) for row in rows]

    def _load(self) -> Any:
        from sentence_transformers import CrossEncoder

        try:
            return CrossEncoder(self._name)
        except (OSError, ValueError) as error:
            raise ToolError(f"the model {self._name!r} cannot be loaded: {error}") from error


def inference_labels_of(names: Mapping[Any, str]) -> InferenceLabels:
    """Find the places of entailment and contradiction among a model's labels, whose order differs by model."""
    places = {name.lower(): int(place) for place, name in names.items()}
    entailed = next((place for name, place in places.items() if name.startswith(ENTAILED)), None)
    contradicted = next((place for name, place in places.items() if name.startswith(CONTRADICTED)), None)
    if entailed is None or contradicted is None:
        raise ToolError(f"the model has the labels {sorted(places)}; one of inference has entailment and contradiction")
    return InferenceLabels(entailed, contradicted)
