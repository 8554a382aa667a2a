"""`python -m bench.strong`: six reports that a strong model wrote by way of the chain, beside its own reports in one call.

Nothing is asked of a model here: the questions, the reports, what each call held and what readers said of them stand in
bench/results/strong, a folder a question (see its README), and this computes the figures from them. `seen` is one call over the
passages that the run's agents saw, `best` one over the twenty best for the bare question. Two readers graded all three from 0
to 10 in RACE's four dimensions without knowing which is which; a report wins in a dimension where the mean of their grades is
more than half a point above the other's, and ties within half a point. Where a report was written twice over the same findings,
as `report` and `report_2`, the mean is over both: two writings differ by about a point.

`won`, `tied` and `lost` count comparisons (question x other report x dimension); `held`, the questions without a loss.
`tokens_ratio` is what was read and written from the writing call on, over what the one call read and wrote; in `billed_ratio`
what repeats the beginning of an earlier request counts a tenth. `deserved` and `undeserved` are marks; `signed_overreach` and
`signed_honest` the shares of planted sentences that were marked; `exact` and `carried` the shares of citations whose quotation
stands in the stored source word for word, and gives what is claimed.
"""

import argparse
import json
import statistics
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from bench.result import print_result
from bench.stack import ROOT

CASES = ROOT / "bench" / "results" / "strong"
DIMENSIONS = ("comprehensiveness", "insight", "instruction_following", "readability")
OURS, OTHERS = "report", ("seen", "best")
TIE = 0.5
REPEATED = 0.1
"""What a repeated beginning of a prompt costs, as a share of the rest."""


def compare(grades: Iterable[Mapping[str, Mapping[str, float]]]) -> Counter[str]:
    """Count what was won, tied and lost against both others; `grades` are of one question: reader -> report -> dimension."""
    readers = list(grades)
    found: Counter[str] = Counter()
    for dimension in DIMENSIONS:
        mean = {name: _mean_of(readers, name, dimension) for name in (OURS, *OTHERS)}
        for other in OTHERS:
            gained = mean[OURS] - mean[other]
            found["tied" if abs(gained) <= TIE else "won" if gained > 0 else "lost"] += 1
    return found


def _mean_of(readers: Sequence[Mapping[str, Mapping[str, float]]], name: str, dimension: str) -> float:
    """Return the mean grade of all writings of a report, such as `seen` and `seen_2`."""
    return statistics.mean(
        grades[dimension] for reader in readers for written, grades in reader.items() if written.partition("_")[0] == name
    )


def measure_ratios(calls: Mapping[str, Sequence[Mapping[str, int]]]) -> tuple[float, float]:
    """Return the ratio of tokens, and that of tokens as they are billed; a character counts the same in both."""

    def cost(name: str, repeated: float) -> float:
        return sum(c["prompt"] - c["repeated"] * (1 - repeated) + c["answer"] for c in calls[name])

    return cost(OURS, 1) / cost("seen", 1), cost(OURS, REPEATED) / cost("seen", REPEATED)


def share(rows: Sequence[Mapping[str, Any]], key: str) -> float:
    """Return the share of rows of which `key` holds."""
    return sum(bool(row[key]) for row in rows) / len(rows)


def collect_figures(folder: Path = CASES) -> dict[str, float]:
    """Compute all figures from the cases in `folder`."""
    compared: Counter[str] = Counter(won=0, tied=0, lost=0, held=0)
    ratios: list[tuple[float, float]] = []
    rows: dict[str, list[Mapping[str, Any]]] = {"marks": [], "planted": [], "citations": []}
    for case in sorted(path for path in folder.iterdir() if path.is_dir()):
        found = compare(_read(case / "grades.json").values())
        compared += found
        compared["held"] += not found["lost"]
        ratios.append(measure_ratios(_read(case / "calls.json")))
        print(f"{case.name}: {dict(found)}, tokens {ratios[-1][0]:.2f}, billed {ratios[-1][1]:.2f}")
        for name, known in rows.items():
            if (file := case / f"{name}.json").exists():
                known += _read(file)
    figures: dict[str, float] = {"questions": len(ratios), **compared}
    figures |= {"tokens_ratio": statistics.mean(r[0] for r in ratios), "billed_ratio": statistics.mean(r[1] for r in ratios)}
    if rows["marks"]:
        deserved = sum(row["deserved"] for row in rows["marks"])
        figures |= {"deserved": deserved, "undeserved": len(rows["marks"]) - deserved}
    for kind in ("overreach", "honest"):
        if planted := [row for row in rows["planted"] if row["kind"] == kind]:
            figures[f"signed_{kind}"] = share(planted, "signed")
    return figures | ({name: share(rows["citations"], name) for name in ("exact", "carried")} if rows["citations"] else {})


def _read(file: Path) -> Any:
    return json.loads(file.read_text())


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=Path, default=CASES, help="the folder of cases; default: bench/results/strong")
    cases = parser.parse_args().cases
    print_result(cases.resolve().name, collect_figures(cases))


if __name__ == "__main__":
    main()
