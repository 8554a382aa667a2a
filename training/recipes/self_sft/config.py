"""The configuration of Self-SFT."""

from training.recipes.own_samples import OwnDataSection
from training.recipes.rates_section import RatedConfig


class SelfSftDataSection(OwnDataSection):
    """Sets of `self-samples`. With `best_only`, only the best output of each prompt; else all good ones."""

    best_only: bool = False


class SelfSftConfig(RatedConfig):
    """Self-SFT: the data, and how rates are measured."""

    data: SelfSftDataSection
