"""Naming what keeps a claim from full support: only what is true of the words of both texts, whatever they mean.

That a number or a name does not stand in the evidence is so or not. That "low" stands where it says "high" tells a difference
only where the two say nearly the same otherwise. Missing words and changed places are no reasons: an honest claim
in words of its own has them too.
"""

import re
import unicodedata
from collections.abc import Sequence

from retrieval.language.quantities import Quantity, QuantityKind, read_quantities
from retrieval.language.traditional import simplify
from workflows.checks.reading import SMALL
from workflows.checks.vetoes.reasons import Veto, VetoReason

COMPARED = frozenset(
    {
        VetoReason.NUMBER_ELSEWHERE,
        VetoReason.BOUND,
        VetoReason.OPPOSITE,
        VetoReason.NEGATION,
        VetoReason.QUANTITY,
        VetoReason.OPEN,
        VetoReason.CERTAIN,
        VetoReason.ONLY,
    }
)
"""Reasons that are named only where the two texts say nearly the same otherwise."""
NEARLY_SAID = 0.35
"""The greatest share of unknown words at which they do."""
ROUGHLY = 0.01
"""By how much an amount may differ that is rounded."""
SHORTEST_NAME, PREFIX = 3, 4
_WORD, _DIGIT = re.compile(r"\w+"), re.compile(r"\d")
BOTH = "都"
"""It only repeats that several were named."""


def name_veto(vetoes: Sequence[Veto], evidence: Sequence[str], *, doubted: bool) -> Veto | None:
    """Return the first veto that may be told to a reader. `evidence` has the title too; `doubted`: the claim is hardly stated."""
    return next((told for veto in vetoes if (told := _narrow(veto, evidence, doubted))), None)


def _narrow(veto: Veto, evidence: Sequence[str], doubted: bool) -> Veto | None:
    """Return the veto with those of its words that the evidence lacks."""
    if veto.reason is VetoReason.NUMBER:
        return veto if _lacks_number(veto.words, evidence) else None
    if veto.reason is VetoReason.NAME:
        missing = _list_missing_names(veto.words, " ".join(evidence))
        return veto._replace(words=" ".join(missing)) if missing else None
    if veto.reason is VetoReason.QUANTITY and veto.words.startswith(BOTH):
        return None
    return veto if doubted and veto.reason in COMPARED and veto.unknown <= NEARLY_SAID else None


def _lacks_number(words: str, evidence: Sequence[str]) -> bool:
    """Whether no text has a number, in this or another form or unit. Small ones and shares in words are often reckoned."""
    own, texts = read_quantities(words), [simplify(text) for text in evidence]
    if not own or any(_is_loose(quantity, words) for quantity in own) or any(words.lower() in text.lower() for text in texts):
        return False
    given = [value for text in texts for quantity in read_quantities(text) for value in (quantity.value, quantity.written)]
    return not any(_is_about(quantity, value) for quantity in own for value in given)


def _is_loose(quantity: Quantity, words: str) -> bool:
    if quantity.kind is QuantityKind.ORDINAL:
        return True
    counts = quantity.kind is QuantityKind.AMOUNT and min(quantity.value, quantity.written or quantity.value) <= SMALL
    return (_DIGIT.search(words) is None and (counts or quantity.unit == "%")) or (counts and not quantity.unit)


def _is_about(quantity: Quantity, value: float) -> bool:
    margin = ROUGHLY if quantity.kind is QuantityKind.AMOUNT else 0.0
    return any(abs(own - value) <= margin * abs(own) for own in (quantity.value, quantity.written) if own)


def _list_missing_names(words: str, evidence: str) -> list[str]:
    """Return the words that no word of the evidence begins like: not "Soviet" where it says "Soviets", nor a short form (US)."""
    known = {word[:PREFIX] for word in _WORD.findall(_fold(evidence))}
    whole = [word for word in words.split() if len(word) >= SHORTEST_NAME and word[1:].islower()]
    return [word for word in whole if _fold(word)[:PREFIX] not in known]


def _fold(text: str) -> str:
    """Return a text in lower case without accents."""
    return "".join(char for char in unicodedata.normalize("NFKD", text.lower()) if not unicodedata.combining(char))
