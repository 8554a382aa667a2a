"""How the rates of faults in reports are measured."""

from datetime import date

from pydantic import Field

from app.domain.value import Value
from training.recipes.config import RecipeConfig


class RatesSection(Value):
    """How many prompts get a report, of how many tokens, and the day on which they count as written (that of the run)."""

    prompts: int = Field(default=32, ge=1)
    tokens: int = Field(default=2_048, ge=1)
    temperature: float = Field(default=1.0, gt=0)
    written: date | None = None


class RatedConfig(RecipeConfig):
    """A recipe that measures the rates before and after."""

    rates: RatesSection = RatesSection()
