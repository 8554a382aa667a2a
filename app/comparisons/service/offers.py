"""List the ways in which this installation can write a report, and refuse others before anything is spent."""

from collections.abc import Iterable
from typing import NamedTuple

from app.domain.errors import InvalidInput
from app.domain.writer import Agents, Arrangement, Composition, WriterSettings
from app.settings import Settings

WARM_TEMPERATURE = 0.8
"""A sampling temperature that makes a second report differ from the first."""


class Way(NamedTuple):
    """A way of writing under a short name."""

    name: str
    writer: WriterSettings


class Offers(NamedTuple):
    """The model that writes here (None: no model, reports are quotations) and further ones that may be named."""

    model: str | None
    alternatives: tuple[str, ...] = ()

    def with_served(self, names: Iterable[str]) -> "Offers":
        """Return these offers and further models that are served here, on whatever server."""
        further = [name for name in names if name not in (self.model, *self.alternatives)]
        return self._replace(alternatives=(*self.alternatives, *further))

    def list_ways(self) -> list[Way]:
        """List the ways in which a second report can be written."""
        quoting = [
            Way(f"quotations: {arrangement}", WriterSettings(agents=Agents.BRIEF, arrangement=arrangement))
            for arrangement in (Arrangement.WORTH, Arrangement.TIME)
        ]
        if self.model is None:
            return quoting
        models = [Way(name, WriterSettings(model=name)) for name in self.alternatives]
        warm = Way(f"{self.model} at {WARM_TEMPERATURE:g}", WriterSettings(temperature=WARM_TEMPERATURE))
        whole = Way(f"{self.model} in one pass", WriterSettings(composition=Composition.SINGLE_PASS))
        return [*models, warm, whole, *quoting]

    def check(self, writer: WriterSettings) -> None:
        """Return when reports can be written in this way here.

        Raises:
            InvalidInput: they cannot; the message says what is available.
        """
        wants_model = writer.agents is Agents.MODEL or writer.model or writer.prompts or writer.temperature is not None
        if (wants_model or writer.composition is Composition.SINGLE_PASS) and self.model is None:
            raise InvalidInput("no model is configured here: reports are quotations, and differ by their `arrangement`")
        if writer.model and writer.model not in (self.model, *self.alternatives):
            there = ", ".join(name for name in (self.model, *self.alternatives) if name)
            raise InvalidInput(f"there is no model {writer.model!r} here; there is {there}")


def offers_of(settings: Settings) -> Offers:
    """Return what the settings offer."""
    return Offers(settings.llm_model, tuple(alternative.name for alternative in settings.alternatives))
