"""The prices of a model's calls."""

from decimal import Decimal, InvalidOperation
from typing import NamedTuple


class PricedModel(NamedTuple):
    """A model's name and its prices in US$ per million tokens. `judges`: it also judges the claims of reports."""

    name: str
    input_price: Decimal
    output_price: Decimal
    judges: bool = False


def parse_priced_model(text: str) -> PricedModel:
    """Read `name=input/output`, or `name` alone for a model that costs nothing.

    Raises:
        ValueError: the prices are no numbers of at least 0.
    """
    name, given, prices = text.rpartition("=")
    first, _, second = (prices if given else "0/0").partition("/")
    try:
        model = PricedModel(name if given else prices, Decimal(first), Decimal(second))
    except InvalidOperation:
        raise ValueError(f"expected name=input/output such as small=0.5/2, not {text!r}") from None
    if not model.name or any(not price.is_finite() or price < 0 for price in (model.input_price, model.output_price)):
        raise ValueError(f"expected a name and prices of at least 0, not {text!r}")
    return model
