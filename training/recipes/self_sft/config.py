"""The configuration of Self-SFT."""

from training.recipes.config import RecipeConfig
from training.recipes.own_samples import OwnDataSection
from training.recipes.rates_section import RatesSection


class SelfSftDataSection(OwnDataSection):
    """Sets of `self-samples`. With `best_only`, only the best output of each prompt; else all good ones."""

    best_only: bool = False


class SelfSftConfig(RecipeConfig):
    """Self-SFT: the data, and how rates are measured."""

    data: SelfSftDataSection
    rates: RatesSection = RatesSection()
