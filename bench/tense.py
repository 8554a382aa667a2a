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
from bench.result import print_result, print_skipped
from retrieval.language.sentences import split_sentences
from workflows.checks.tense import find_past_predictions

LABELS = Path(__file__).parent / "labels"
WRITTEN = date(2026, 6, 15)
NEWS = DATA / "wikinews" / "dated.jsonl.gz"


class LabelledSentence(NamedTuple):
    """A sentence with its labels. `candidate`: it predicts the past; `error`: and names nobody who predicted it."""

    candidate: bool
    error: bool
    text: str


class AgreementCounts(NamedTuple):
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


def read_sentences(name: str) -> list[LabelledSentence]:
    """Read lines of candidate, error and text, tabs between."""
    rows = (line.split("\t") for line in (LABELS / f"tense_{name}.tsv").read_text(encoding="utf-8").splitlines())
    return [LabelledSentence(candidate == "1", error == "1", text) for candidate, error, text in rows]


def count_agreement(pairs: Iterable[tuple[bool, bool]]) -> AgreementCounts:
    """Count pairs of what the check and the label say."""
    found = list(pairs)
    return AgreementCounts(
        sum(check and label for check, label in found),
        sum(check and not label for check, label in found),
        sum(label and not check for check, label in found),
    )


def measure_stages(rows: Iterable[LabelledSentence]) -> tuple[AgreementCounts, AgreementCounts]:
    """Count stage one against candidates, and both stages against errors."""
    read = [(row, find_past_predictions(row.text, WRITTEN)) for row in rows]
    one = count_agreement((bool(found), row.candidate) for row, found in read)
    return one, count_agreement((any(not prediction.forecaster for prediction in found), row.error) for row, found in read)


def read_news() -> Iterator[tuple[str, date]]:
    """Yield articles with their days."""
    with gzip.open(NEWS, "rt", encoding="utf-8") as file:
        for row in map(json.loads, file):
            yield row["text"], datetime.strptime(row["first_explicit_date"], "%B %d, %Y").date()


def count_false_alarms() -> tuple[int, int]:
    """Count the flagged sentences of the news, and all of them."""
    flagged = total = 0
    for text, day in read_news():
        total += len(split_sentences(text))
        for found in find_past_predictions(text, day):
            if not found.forecaster:
                flagged += 1
                print(f"flagged on {day}: {' '.join(found.text.split())[:160]} [{found.period}]")
    return flagged, total


def main() -> None:
    figures: dict[str, float] = {}
    sets = {"en": read_sentences("en"), "zh": read_sentences("zh")}
    for name, rows in {**sets, "": [*sets["en"], *sets["zh"]], "unseen": read_sentences("unseen")}.items():
        one, both = measure_stages(rows)
        prefix = f"{name}_" if name else ""
        figures |= {f"{prefix}recall": both.recall, f"{prefix}precision": both.precision}
        figures |= {f"{prefix}stage_one_recall": one.recall, f"{prefix}stage_one_precision": one.precision}
        print(f"{name or 'all'}: {len(rows)} sentences, {sum(row.error for row in rows)} errors")
    if not NEWS.exists():
        print_skipped("tense", "dated news are not at ../shared/data/wikinews")
        return
    flagged, total = count_false_alarms()
    print_result("tense", {**figures, "false_alarm_rate": flagged / total})


if __name__ == "__main__":
    main()
