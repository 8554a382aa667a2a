"""The ways of writing a report: what may differ between two reports over the same evidence."""

from enum import StrEnum
from typing import Annotated

from pydantic import Field, StringConstraints

from app.domain.served_models import SETTINGS_MODEL, RoleModels
from app.domain.value import Value

ModelName = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=200, pattern=r"^[!-~]+$")]
PromptName = Annotated[str, StringConstraints(pattern=r"^[a-z_]{1,40}$")]
PromptVersion = Annotated[str, StringConstraints(pattern=r"^v[0-9]{1,4}$")]


class Agents(StrEnum):
    """The writer's agents: they ask a language model, or they only quote and cannot invent."""

    MODEL = "model"
    BRIEF = "brief"


class Arrangement(StrEnum):
    """The order of the sources in a brief: the best match first (so does `automatic`), or by date."""

    AUTOMATIC = "automatic"
    WORTH = "worth"
    TIME = "time"


class Composition(StrEnum):
    """The way a model composes the report of the chain: section writers side by side, or one call for the whole (MindDR 5.3)."""

    SECTIONS = "sections"
    SINGLE_PASS = "single_pass"


class WriterSettings(Value):
    """The settings of a report's writer. All defaults mean the installation's own way.

    `model` is one that the installation offers; `temperature` is the sampling temperature of every call of the report stage
    (None: each step's own); `prompts` gives versions by prompt name, such as `{"section": "v4"}`. `composition` holds for the
    system `minddr` (None: `sections`); the others write while they search.
    """

    agents: Agents | None = None
    model: ModelName | None = None
    temperature: float | None = Field(default=None, ge=0, le=2)
    prompts: dict[PromptName, PromptVersion] = Field(default={}, max_length=20, json_schema_extra={"additionalProperties": False})
    arrangement: Arrangement = Arrangement.AUTOMATIC
    composition: Composition | None = None

    def over(self, usual: "WriterSettings") -> "WriterSettings":
        """Return these settings, with the usual ones where these say nothing."""
        given = {name: value for name, value in self if value != type(self).model_fields[name].default}
        return usual.model_copy(update=given)


class ReportLineage(Value):
    """The settings that a report was in fact written with, noted by the worker that wrote it.

    `model` is empty for the writer of briefs; `prompts` are SHA-256 digests by `name/version/language`; `build` names the
    version of the program. A report older than lineages has an empty one. `models` are the served models of the run's roles, of
    which the writer is `model`. `composition` is what in fact wrote the text: a single
    pass that failed leaves `sections` here.
    """

    system: str = ""
    agents: str = ""
    model: str = ""
    temperature: float | None = None
    arrangement: str = ""
    composition: str = ""
    prompts: dict[str, str] = Field(default={})
    build: str = ""
    models: RoleModels = SETTINGS_MODEL

    @property
    def way(self) -> str:
        """A short name under which votes for reports written alike are counted; prompts and builds do not count."""
        if self.agents == Agents.MODEL:
            warmth = "" if self.temperature is None else f" at {self.temperature:g}"
            warmth += " in one pass" if self.composition == Composition.SINGLE_PASS else ""
            versions = sorted({f"{name.split('/')[0]} {name.split('/')[1]}" for name in self.prompts if "/v1/" not in name})
            return " ".join([f"{self.system}: {self.model}{warmth}", *(f"+ {version}" for version in versions)])
        return f"{self.system}: quotations, {self.arrangement}" if self.agents else "unknown"
