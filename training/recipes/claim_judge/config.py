"""What the claim judge is configured by. `model.base` is the checkpoint of which the encoder is cut."""

from pydantic import Field

from app.domain.value import Value
from training.recipes.config import ConfigPath, RecipeConfig


class DataSection(Value):
    """What is learned from: sets of the kind `claim-support`, or files of pairs.

    `thinned` names kinds of which only a share `kept` is used, since rules see them already. `validation` is the share of the
    documents whose pairs decide the limit.
    """

    sets: list[ConfigPath]
    thinned: tuple[str, ...] = ()
    kept: float = Field(default=1.0, gt=0, le=1)
    validation: float = Field(default=0.06, gt=0, lt=1)


class EncoderSection(Value):
    """The encoder: so many of the checkpoint's first layers, and of its most frequent tokens."""

    layers: int = Field(ge=1)
    vocabulary: int = Field(ge=200)


class HeadSection(Value):
    """The size of the head's vectors, the width of what it finds, and its dropout."""

    size: int = Field(default=128, ge=2)
    width: int = Field(default=96, ge=2)
    dropout: float = Field(default=0.1, ge=0, lt=1)


class LimitsSection(Value):
    """`lost`: the share of the honest validation pairs that rules pass, and that the judge's limit lies above."""

    lost: float = Field(default=0.01, ge=0, lt=1)


class ClaimJudgeConfig(RecipeConfig):
    """The whole configuration."""

    data: DataSection
    encoder: EncoderSection
    head: HeadSection = HeadSection()
    limits: LimitsSection = LimitsSection()
