"""The workshop in which a set is made: corpora, models, prompts."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path

from app.domain.errors import SetupError
from app.domain.query import Language
from app.settings import Codec
from training.evaluation.harness.models import RunModels, ServedModel
from training.synthesis.set_request import SetRequest
from training.synthesis.source_corpus import SourceCorpus
from training.synthesis.training_set.audit import RowAudit, ShownRow
from training.synthesis.training_set.outcome import KeptRow
from workflows.agents.codec import SchemaCodec, StepCodec, TagCodec
from workflows.agents.kit import Kit
from workflows.agents.ports import Record
from workflows.prompts.library import PromptLibrary

WRITER, VERIFIER, GENERATOR = "writer", "verifier", "generator"
AUDIT = "audit"


@dataclass(frozen=True, slots=True)
class Workshop:
    """What a kind of set is made with. The writer makes rows, the verifier judges them; it may be the same model.

    The generator writes rubrics, in the notation that it is served in: tags, where it was trained here.
    """

    request: SetRequest
    corpora: Sequence[SourceCorpus]
    models: RunModels
    prompts: PromptLibrary
    codec: StepCodec
    today: date
    generator: ServedModel | None = None

    def open_generator(self, record: Record, language: Language, today: date) -> Kit:
        """Return the kit of the rubric generator, which is asked on this day.

        Raises:
            SetupError: there is none.
        """
        if self.generator is None:
            raise SetupError("rubrics are written by a generator: give --option generator=URL and --option generator_model=NAME")
        kit = self._open_kit(self.generator, record, language)
        codec = TagCodec() if self.generator.used.codec == Codec.TAGS else SchemaCodec()
        return replace(kit, codec=codec, today=today)

    def open_writer(self, record: Record, language: Language) -> Kit:
        """Return the writer's kit for the work on one candidate.

        Raises:
            SetupError: there is no model.
        """
        return self._open_kit(self.models.system, record, language)

    def open_verifier(self, record: Record, language: Language) -> Kit:
        """Return the verifier's kit for the work on one candidate.

        Raises:
            SetupError: there is no model.
        """
        return self._open_kit(self.models.judge, record, language)

    def open_audit(self, show: Callable[[KeptRow], ShownRow]) -> RowAudit | None:
        """Return the audit in the folder that `--option audit=FOLDER` names; None where it names none."""
        if AUDIT not in self.request.options:
            return None
        judge = self.models.judge.used.name if self.models.judge else ""
        return RowAudit(Path(self.request.options[AUDIT]), self.today, judge, show)

    def _open_kit(self, model: ServedModel | None, record: Record, language: Language) -> Kit:
        if model is None:
            raise SetupError(
                f"{self.request.kind} needs a model: set RUBRICA_LLM_BASE_URL and RUBRICA_LLM_MODEL, or give --model-file"
            )
        return Kit(model.chat, {}, record, self.prompts, self.codec, self.today, lambda: 0.0, language=language)
