"""A cross-encoder from a model hub: does a premise entail or contradict a hypothesis, or does it at least support it?

Models of inference know three labels, fact checkers two: supported or not. A fact checker whose labels have no names is named in
`models.toml`.
"""

import threading
import tomllib
from collections.abc import Mapping, Sequence
from importlib.resources import files
from importlib.util import find_spec
from typing import Any, NamedTuple

from app.domain.errors import SetupError, ToolError

ENTAILED, CONTRADICTED = "entail", "contradict"
SUPPORTED = ("support", "consistent", "factual")


class InferenceLabels(NamedTuple):
    """The places of the needed labels among a model's outputs; a fact checker has none for contradiction."""

    entailed: int
    contradicted: int | None


class FactChecker(NamedTuple):
    """An entry `inference.<name>` of `models.toml`: where the weights are, and the place of the label `supported`."""

    title: str
    licence: str
    hub: str
    supported: int


def read_fact_checkers() -> dict[str, FactChecker]:
    """Read the fact checkers that the product knows, by name."""
    entries = tomllib.loads(files("retrieval.encoding").joinpath("models.toml").read_text(encoding="utf-8"))
    return {
        name: FactChecker(entry["title"], entry["licence"], entry["hub"], entry["supported"])
        for name, entry in entries["inference"].items()
    }


class CrossEncoderNli:
    """A cross-encoder, loaded by sentence-transformers at the first call. Threads may share it.

    `model` is a name of `models.toml`, a hub name or a folder.
    """

    def __init__(self, model: str) -> None:
        if find_spec("sentence_transformers") is None:
            raise SetupError("RUBRICA_NLI_MODEL needs `.venv/bin/pip install 'rubrica[torch]'`; or unset it")
        known = read_fact_checkers()
        checker = known.get(model) or next((entry for entry in known.values() if entry.hub == model), None)
        self._name = checker.hub if checker else model
        self._supported = checker.supported if checker else None
        self._lock = threading.Lock()
        self._model: Any = None

    def __call__(self, pairs: Sequence[tuple[str, str]]) -> list[tuple[float, float]]:
        """Return the probabilities of entailment and of contradiction for each premise and hypothesis.

        A fact checker tells what is supported; it contradicts nothing.

        Raises:
            ToolError: the model cannot be loaded, or lacks the labels of inference.
        """
        with self._lock:
            model = self._model = self._model or self._load()
            labels = self._find_labels(model.config.id2label)
            rows = model.predict(list(pairs), apply_softmax=True, show_progress_bar=False)
        against = labels.contradicted
        return [(float(row[labels.entailed]), 0.0 if against is None else float(row[against])) for row in rows]

    def _find_labels(self, names: Mapping[Any, str]) -> InferenceLabels:
        return inference_labels_of(names) if self._supported is None else InferenceLabels(self._supported, None)

    def _load(self) -> Any:
        from sentence_transformers import CrossEncoder

        try:
            return CrossEncoder(self._name)
        except (OSError, ValueError) as error:
            raise ToolError(f"the model {self._name!r} cannot be loaded: {error}") from error


def inference_labels_of(names: Mapping[Any, str]) -> InferenceLabels:
    """Find the places of entailment and contradiction among a model's labels, or of support among a fact checker's two."""
    places = {name.lower(): int(place) for place, name in names.items()}
    entailed = next((place for name, place in places.items() if name.startswith(ENTAILED)), None)
    contradicted = next((place for name, place in places.items() if name.startswith(CONTRADICTED)), None)
    if entailed is not None and contradicted is not None:
        return InferenceLabels(entailed, contradicted)
    supported = next((place for name, place in places.items() if name.startswith((ENTAILED, *SUPPORTED))), None)
    if supported is None or len(places) != len((True, False)):
        raise ToolError(
            f"the model has the labels {sorted(places)}; one of inference has entailment and contradiction, a fact checker "
            "two, one of them named for support, or an entry in models.toml"
        )
    return InferenceLabels(supported, None)
