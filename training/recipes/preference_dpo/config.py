"""The configuration of DPO."""

from pydantic import Field

from app.domain.value import Value
from training.recipes.own_samples import OwnDataSection
from training.recipes.rates_section import RatedConfig


class DpoSection(Value):
    """`beta` of Eq. 14, and the weight of -log p of the better output (a mean over its tokens), which is added to the loss."""

    beta: float = Field(default=0.1, gt=0)
    sft_weight: float = Field(default=0.0, ge=0)


class DpoConfig(RatedConfig):
    """DPO: the data, the loss, and how rates are measured."""

    data: OwnDataSection
    dpo: DpoSection = DpoSection()
