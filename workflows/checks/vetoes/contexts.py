"""How well a place of a sentence fits a place of a claim: whether the same words stand near both."""

from collections.abc import Sequence

from workflows.checks.vetoes.alignment import ClaimPart

CONTEXT = 4
CLEARLY_NEARER = 1.3
"""How many times better another place must fit than the right one."""
LETTERS_A_WORD = {False: 7.0, True: 2.0}


def measure_context(
    part: ClaimPart, start: int, end: int, place: int, place_end: int, more: Sequence[tuple[int, Sequence[int]]] = ()
) -> float:
    """Return how near the words beside `[start, end)` of the claim stand to `[place, place_end)` of the sentence.

    Each of the nearest words counts by its nearness in the claim times that in the sentence. `more` are further things to count
    besides the words: their places in the claim and in the sentence.
    """
    known = [(atom.start, places) for atom, places in zip(part.atoms, part.places, strict=True) if places]
    known = sorted([*known, *((at, tuple(places)) for at, places in more)])
    before = [places for at, places in known if at < start][-CONTEXT:]
    after = [places for at, places in known if at >= end][:CONTEXT]
    letters = LETTERS_A_WORD[bool(part.atoms) and part.atoms[0].chinese]
    total = 0.0
    for steps, places in [*enumerate(reversed(before), 1), *enumerate(after, 1)]:
        gap = min(max(0, place - at, at - place_end) for at in places)
        total += 1 / steps / (1 + gap / letters)
    return total
