"""`python -m bench.tense`: find predictions of the past in labelled sentences, and count false ones in dated news.

`recall` and `precision` are those of both stages over the labelled sentences, on which the rules were made: the first stage finds
predictions, the second whether somebody is named who made them. `stage_one_*` are those of the first alone. `unseen_*` are over
sentences written after the last change of the rules. `false_alarm_rate` is the share of wikinews' sentences flagged, each article
read on its own day, on which nothing it predicts is past.
"""

import gzip
import json
from collections.abc import Iterable, Iterator
from datetime import date, datetime
from pathlib import Path
from typing import NamedTuple

from bench.labelled_sets import DATA
from bench.result import report, skipped
from retrieval.language.sentences import split_sentences
from workflows.checks.tense import find_past_predictions

LABELS = Path(__file__).parent / "labels"
WRITTEN = date(2026, 6, 15)
NEWS = DATA / "wikinews" / "dated.jsonl.gz"


class Labelled(NamedTuple):
    """A sentence with its labels. `candidate`: it predicts the past; `error`: and names nobody who predicted it."""

    candidate: bool
    error: bool
    text: str


class Counts(NamedTuple):
    """How often both said yes, only the check, and only the label."""

    both: int
    check: int
    label: int

    @property
    def recall(self) -> float:
        """The recall, between 0 and 1."""
        return self.both / (self.both + self.label)

    @property
    def precision(self) -> float:
        """The precision, between 0 and 1."""
        return self.both / (self.both + self.check)


def labelled(name: str) -> list[Labelled]:
    """Read lines of candidate, error and text, tabs between."""
    rows = (line.split("\t") for line in (LABELS / f"tense_{name}.tsv").read_text(encoding="utf-8").splitlines())
    return [Labelled(candidate == "1", error == "1", text) for candidate, error, text in rows]


def counted(pairs: Iterable[tuple[bool, bool]]) -> Counts:
    """Count pairs of what the check and the label say."""
    found = list(pairs)
    return Counts(
        sum(check and label for check, label in found),
        sum(check and not label for check, label in found),
        sum(label and not check for check, label in found),
    )


def stages(rows: Iterable[Labelled]) -> tuple[Counts, Counts]:
    """Count stage one against candidates, and both stages against errors."""
    read = [(row, find_past_predictions(row.text, WRITTEN)) for row in rows]
    one = counted((bool(found), row.candidate) for row, found in read)
    return one, counted((any(not prediction.forecaster for prediction in found), row.error) for row, found in read)


def news() -> Iterator[tuple[str, date]]:
    """Yield articles with their days."""
    with gzip.open(NEWS, "rt", encoding="utf-8") as file:
        for row in map(json.loads, file):
            yield row["text"], datetime.strptime(row["first_explicit_date"], "%B %d, %Y").date()


def false_alarms() -> tuple[int, int]:
    """Count the flagged sentences of the news, and all of them."""
    flagged = total = 0
    for text, day in news():
        total += len(split_sentences(text))
        for found in find_past_predictions(text, day):
            if not found.forecaster:
                flagged += 1
                print(f"flagged on {day}: {' '.join(found.text.split())[:160]} [{found.period}]")
    return flagged, total


def main() -> None:
    figures: dict[str, float] = {}
    sets = {"en": labelled("en"), "zh": labelled("zh")}
    for name, rows in {**sets, "": [*sets["en"], *sets["zh"]], "unseen": labelled("unseen")}.items():
        one, both = stages(rows)
        prefix = f"{name}_" if name else ""
        figures |= {f"{prefix}recall": both.recall, f"{prefix}precision": both.precision}
        figures |= {f"{prefix}stage_one_recall": one.recall, f"{prefix}stage_one_precision": one.precision}
        print(f"{name or 'all'}: {len(rows)} sentences, {sum(row.error for row in rows)} errors")
    if not NEWS.exists():
        skipped("tense", "dated news are not at ../shared/data/wikinews")
        return
    flagged, total = false_alarms()
    report("tense", {**figures, "false_alarm_rate": flagged / total})


if __name__ == "__main__":
    main()
