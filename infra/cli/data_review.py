"""Do the work of `rubrica data review`: show a person one pair after the other."""

from pathlib import Path

import typer

from app.domain.errors import InvalidInput
from app.preferences.nouns.feedback import Choice, ChoiceVerdict
from training.synthesis.preference_pairs.reviews import PAIRS, PairReview, ReviewFolder, ReviewPair

ANSWERS = {"l": ChoiceVerdict.LEFT, "r": ChoiceVerdict.RIGHT, "t": ChoiceVerdict.TIE, "b": ChoiceVerdict.BOTH_BAD}
SKIP, QUIT = "s", "q"
STRENGTHS = ("1", "2", "3")


def review(folder: Path, reviewer: str) -> int:
    """Show the waiting pairs until none is left or the person quits.

    Raises:
        InvalidInput: the folder has no pairs.
    """
    if not (folder / PAIRS).exists():
        raise InvalidInput(f"{folder} has no pairs; `rubrica data make preference-pairs --option review={folder}` makes them")
    reviews = ReviewFolder(folder)
    waiting = reviews.list_waiting(reviewer)
    for number, pair in enumerate(waiting, 1):
        _show_pair(pair, f"[{number}/{len(waiting)}]")
        answer = _ask_letter("left, right, tie, both bad, skip or quit (l/r/t/b/s/q)", (*ANSWERS, SKIP, QUIT))
        if answer == QUIT:
            break
        if answer != SKIP:
            reviews.keep_review(PairReview(id=pair.id, reviewer=reviewer, choice=_make_choice(ANSWERS[answer])))
    print(f"{len(reviews.list_waiting(reviewer))} left for {reviewer}")
    return 0


def _show_pair(pair: ReviewPair, place: str) -> None:
    print(f"\n{place} {pair.question}\n\n===== left =====\n{pair.left}\n\n===== right =====\n{pair.right}\n")


def _make_choice(verdict: ChoiceVerdict) -> Choice:
    if verdict.side is None:
        return Choice(verdict=verdict)
    return Choice(verdict=verdict, strength=int(_ask_letter("how much better: slightly, clearly, far (1/2/3)", STRENGTHS)))


def _ask_letter(question: str, letters: tuple[str, ...]) -> str:
    while True:
        said = str(typer.prompt(question)).strip().lower()[:1]
        if said in letters:
            return said
