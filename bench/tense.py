"""`python -m bench.tense [--labels FILE]`: find predictions of the past in labelled sentences, and false ones in news.

`recall_en` and its kin are of both stages (an error is a prediction of the past that names nobody who made it), over sentences
that were set aside by a hash before the rules were made and read once, at the end. `stage_one_*` are of the first stage alone,
for which an attributed prediction counts as found. `built_*` are over the sentences the rules were made on. `false_alarm_rate`
is the share of wikinews' sentences flagged, each article read on its own day, on which nothing it predicts is past.

A file of labels has JSON lines {"text", "language", "label", "date"}: language en or zh; date, the day on which the text was
written, as YYYY-MM-DD; label "error" (also "yes", "positive", true, 1) for a prediction of the past that names nobody who made
it, "attributed" for one that does, "none" (also "ok", "no", "negative", false, 0) for anything else.
"""

import argparse
import gzip
import json
from collections.abc import Iterable, Iterator, Sequence
from datetime import date, datetime
from pathlib import Path
from typing import NamedTuple

from bench.labelled_sets import DATA, read_lines
from bench.result import print_result, print_skipped
from retrieval.language.sentences import split_sentences
from workflows.checks.tense import find_past_predictions

LABELS = Path(__file__).parent / "labels"
BUILT, UNSEEN = LABELS / "tense_built.jsonl", LABELS / "tense_unseen.jsonl"
NEWS = DATA / "wikinews" / "dated.jsonl.gz"
ERROR, ATTRIBUTED, NONE = (
    {"error", "yes", "positive", "true", "1"},
    {"attributed"},
    {"none", "ok", "no", "negative", "false", "0"},
)


class LabelledSentence(NamedTuple):
    """A sentence with its labels. `candidate`: it predicts the past; `error`: and names nobody who predicted it."""

    text: str
    language: str
    candidate: bool
    error: bool
    written: date


class AgreementCounts(NamedTuple):
    """How often both said yes, only the check, and only the label."""

    both: int
    check: int
    label: int

    @property
    def recall(self) -> float:
        """The recall, between 0 and 1; 1 where nothing was to be found."""
        return self.both / (self.both + self.label) if self.both + self.label else 1.0

    @property
    def precision(self) -> float:
        """The precision, between 0 and 1; 1 where nothing was found."""
        return self.both / (self.both + self.check) if self.both + self.check else 1.0


def read_sentences(path: Path) -> list[LabelledSentence]:
    """Read a file of labels.

    Raises:
        ValueError: a row has another label.
    """
    return [_read_row(row) for row in read_lines(path)]


def _read_row(row: dict[str, object]) -> LabelledSentence:
    label = str(row["label"]).strip().lower()
    if label not in ERROR | ATTRIBUTED | NONE:
        raise ValueError(f"a label is one of {', '.join(sorted(ERROR | ATTRIBUTED | NONE))}, not {row['label']!r}: {row['text']}")
    written = date.fromisoformat(str(row["date"])[:10])
    return LabelledSentence(str(row["text"]), str(row["language"])[:2].lower(), label not in NONE, label in ERROR, written)


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
    read = [(row, find_past_predictions(row.text, row.written)) for row in rows]
    one = count_agreement((bool(found), row.candidate) for row, found in read)
    return one, count_agreement((any(not prediction.forecaster for prediction in found), row.error) for row, found in read)


def measure_languages(rows: Sequence[LabelledSentence], prefix: str = "") -> dict[str, float]:
    """Return recall and precision for each language, of both stages and of the first."""
    figures: dict[str, float] = {}
    for language in sorted({row.language for row in rows}):
        of_language = [row for row in rows if row.language == language]
        one, both = measure_stages(of_language)
        figures |= {f"{prefix}recall_{language}": both.recall, f"{prefix}precision_{language}": both.precision}
        figures |= {f"{prefix}stage_one_recall_{language}": one.recall, f"{prefix}stage_one_precision_{language}": one.precision}
        print(f"{prefix}{language}: {len(of_language)} sentences, {sum(row.error for row in of_language)} errors")
    return figures


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
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--labels", type=Path, help="labelled sentences of your own, as JSON lines; only these are measured")
    asked = parser.parse_args()
    if asked.labels:
        print_result("tense", measure_languages(read_sentences(asked.labels)))
        return
    figures = measure_languages(read_sentences(UNSEEN)) | measure_languages(read_sentences(BUILT), "built_")
    if not NEWS.exists():
        print_skipped("tense", "dated news are not at ../shared/data/wikinews")
        return
    flagged, total = count_false_alarms()
    print_result("tense", {**figures, "false_alarm_rate": flagged / total})


if __name__ == "__main__":
    main()
