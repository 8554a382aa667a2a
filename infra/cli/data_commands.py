"""Do the work of `rubrica data`."""

from collections import Counter
from collections.abc import Iterable

from app.domain.errors import InvalidInput
from app.settings import Settings
from infra.cli.execute import say
from training.decontamination.public_sets import find_public_sets, locate_benchmarks
from training.synthesis.catalogue import LOCATIONS, load_kind
from training.synthesis.make_requested_set import make_requested_set
from training.synthesis.set_request import SetRequest
from training.synthesis.training_set.folder import REPORT
from training.synthesis.training_set.outcome import WorkedCandidate

MICRO = 1_000_000


def show_kinds() -> int:
    """Print what each kind of set is, and its options."""
    for name in LOCATIONS:
        kind = load_kind(name)
        print(f"{name:18} {kind.about}")
        if kind.options:
            print(f"{'':18} options: {', '.join(sorted(kind.options))}")
    return 0


async def make_and_report(settings: Settings, request: SetRequest) -> int:
    """Make a set, say how far it is, and print what it has. The exit code is 1 where it has no rows."""
    folder = locate_benchmarks(settings)
    if not (request.against or find_public_sets(folder)):
        say(f"note: no --against, and no public benchmark in {folder}: rows are compared with none")
    manifest = await make_requested_set(settings, request, _Progress(request.rows))
    for split, rows in manifest.rows.items():
        print(f"{split:12} {rows:>7}")
    for stage, count in manifest.refused.items():
        print(f"refused: {stage:20} {count:>7}")
    for mixture, classes in manifest.shares.items():
        for name, share in classes.items():
            print(f"share: {f'{mixture} {name}':22} {share.reached:>6.0%} of {share.asked:.0%} asked")
    for notice in manifest.notices:
        say(f"note: {notice}")
    print(f"near-duplicates are found by {manifest.near_duplicates_by}")
    print(f"{manifest.usage.model_calls} calls, US$ {manifest.usage.cost_microusd / MICRO:.4f}")
    print(request.out / REPORT)
    if not sum(manifest.rows.values()):
        say("error: this set has no row yet to train on; the report shows where the candidates fell out")
        return 1
    return 0


class _Progress:
    """Says how many rows there are, at each tenth of them and at each refusal of a new kind."""

    def __init__(self, wanted: int) -> None:
        self._wanted = wanted
        self._kept = 0
        self._refused: Counter[str] = Counter()

    def __call__(self, worked: WorkedCandidate) -> None:
        if worked.refused is not None:
            self._refused[worked.refused.stage] += 1
            if self._refused[worked.refused.stage] == 1:
                say(f"the first that fell out at {worked.refused.stage!r}: {worked.refused.reason}")
            return
        self._kept += 1
        if self._kept <= self._wanted and self._kept % max(1, self._wanted // 10) == 0:
            say(f"[{self._kept}/{self._wanted}] rows, {self._refused.total()} candidates fell out")


def read_options(said: Iterable[str]) -> dict[str, str]:
    """Read options of the form `NAME=VALUE`.

    Raises:
        InvalidInput: one has another form.
    """
    found: dict[str, str] = {}
    for text in said:
        name, given, value = text.partition("=")
        if not given or not name:
            raise InvalidInput(f"{text!r} is no option; write NAME=VALUE")
        found[name] = value
    return found
