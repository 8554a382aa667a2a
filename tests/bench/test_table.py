"""The table of figures is made from results, limits and the history of the repository."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from bench.table import BEGIN, END, meets_limit, read_limits, read_results

ROOT = Path(__file__).parents[2]
LIMITS = """
[speed]
arguments = "--home DIR"
short = "The engine is cold."
[speed.figures]
p50_ms = "< 15"
qps = "≥ 2 × base"
base = ""
"""


def git(root: Path, *words: str) -> str:
    identity = ["-c", "user.name=T", "-c", "user.email=t@example.org"]
    return subprocess.run(["git", "-C", str(root), *identity, *words], check=True, capture_output=True, text=True).stdout.strip()


def commit_change(root: Path, file: str, text: str) -> str:
    path = root / file
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    git(root, "add", ".")
    git(root, "commit", "-m", "change")
    return git(root, "rev-parse", "--short=12", "HEAD")


def keep_result(root: Path, measured: str, p50_ms: float = 14.5) -> None:
    line = {"bench": "speed", "figures": {"p50_ms": p50_ms, "qps": 20, "base": 10}, "machine": "two cores", "commit": measured}
    (root / "bench" / "results" / "speed.json").write_text(json.dumps(line))


def keep_files(root: Path, *files: str) -> None:
    (root / "bench" / "results" / "speed.files.txt").write_text("".join(f"{file}\n" for file in files))


def run_table(root: Path, *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "bench.table", "--root", str(root), *words]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True)


def rows(root: Path) -> list[str]:
    return [line for line in (root / "bench" / "README.md").read_text().splitlines() if line.startswith("| `")]


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    (tmp_path / "bench" / "results").mkdir(parents=True)
    (tmp_path / "bench" / "limits.toml").write_text(LIMITS)
    (tmp_path / "bench" / "README.md").write_text(f"# Benchmarks\n\n{BEGIN}\n{END}\n\nMore.\n")
    git(tmp_path, "init", "--quiet")
    keep_result(tmp_path, commit_change(tmp_path, "engine/search.py", "fast = True"))
    keep_files(tmp_path, "engine/search.py", "engine/words.toml")
    return tmp_path


def test_a_row_tells_command_figure_value_limit_and_mark(checkout: Path) -> None:
    assert run_table(checkout).returncode == 0
    assert rows(checkout) == [
        "| `python -m bench.speed --home DIR` | p50_ms | 14.5 | < 15 | met; 0 commits since |",
        "| `python -m bench.speed --home DIR` | qps | 20 | ≥ 2 × base | met; 0 commits since |",
        "| `python -m bench.speed --home DIR` | base | 10 |  | 0 commits since |",
    ]
    readme = (checkout / "bench" / "README.md").read_text()
    assert readme.startswith("# Benchmarks\n")
    assert readme.endswith("\nMore.\n")
    assert "What falls short" not in readme


def test_a_row_of_another_name_tells_the_bench_that_it_is_of(checkout: Path) -> None:
    limits = checkout / "bench" / "limits.toml"
    limits.write_text(f"{LIMITS}[speed_gpu]\nmodule = 'speed'\n[speed_gpu.figures]\nqps = ''\n")
    run_table(checkout)
    assert rows(checkout)[3] == "| `python -m bench.speed` | qps |  |  | not measured |"


def test_a_missed_limit_is_marked_and_explained(checkout: Path) -> None:
    keep_result(checkout, git(checkout, "rev-parse", "HEAD"), p50_ms=15.0)
    run_table(checkout)
    assert rows(checkout)[0].endswith("| 15.0 | < 15 | missed; 0 commits since |")
    assert "- `speed`: p50_ms. The engine is cold." in (checkout / "bench" / "README.md").read_text()


def test_a_row_tells_how_many_commits_touched_the_files_that_the_bench_used(checkout: Path) -> None:
    commit_change(checkout, "engine/other.py", "unused = True")
    run_table(checkout)
    assert rows(checkout)[0].endswith("| met; 0 commits since |")
    commit_change(checkout, "engine/search.py", "fast = False")
    run_table(checkout)
    assert rows(checkout)[2].endswith("|  | 1 commit since |")
    commit_change(checkout, "engine/words.toml", "words = []")
    run_table(checkout)
    assert rows(checkout)[0].endswith("| met; 2 commits since |")


def test_commits_of_a_merged_branch_are_counted_and_the_merge_is_not(checkout: Path) -> None:
    git(checkout, "checkout", "--quiet", "-b", "aside")
    commit_change(checkout, "engine/search.py", "fast = False")
    commit_change(checkout, "engine/search.py", "fast = True")  # as before: the branch leaves no difference
    git(checkout, "checkout", "--quiet", "-")
    commit_change(checkout, "page/main.py", "colour = 'blue'")
    git(checkout, "merge", "--quiet", "--no-edit", "aside")
    run_table(checkout)
    assert rows(checkout)[0].endswith("| met; 2 commits since |")


def test_a_result_whose_files_were_not_recorded_says_so(checkout: Path) -> None:
    (checkout / "bench" / "results" / "speed.files.txt").unlink()
    run_table(checkout)
    assert rows(checkout)[0].endswith("| met; files not recorded |")


@pytest.mark.parametrize("measured", ["0123456789ab", "unknown", "HEAD+changes"])
def test_a_figure_of_code_in_no_commit_is_marked(checkout: Path, measured: str) -> None:
    keep_result(checkout, measured.replace("HEAD", git(checkout, "rev-parse", "--short=12", "HEAD")))
    run_table(checkout)
    assert rows(checkout)[0].endswith("| met; commit unknown |")


def test_a_commit_of_another_branch_is_unknown(checkout: Path) -> None:
    git(checkout, "checkout", "--quiet", "-b", "aside")
    aside = commit_change(checkout, "engine/other.py", "")
    git(checkout, "checkout", "--quiet", "-")
    (checkout / "bench" / "results").mkdir()
    keep_result(checkout, aside)
    run_table(checkout)
    assert rows(checkout)[0].endswith("| met; commit unknown |")


def test_a_bench_without_a_result_is_told(checkout: Path) -> None:
    (checkout / "bench" / "results" / "speed.json").unlink()
    run_table(checkout)
    assert rows(checkout)[0].endswith("| p50_ms |  | < 15 | not measured |")


def test_check_writes_nothing_and_fails_on_any_difference(checkout: Path) -> None:
    readme = checkout / "bench" / "README.md"
    before = readme.read_text()
    assert run_table(checkout, "--check").returncode == 1
    assert readme.read_text() == before
    run_table(checkout)
    assert run_table(checkout, "--check").returncode == 0
    readme.write_text(readme.read_text().replace("14.5", "14.4"))
    assert run_table(checkout, "--check").returncode == 1


def test_a_shallow_checkout_is_told(checkout: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    commit_change(checkout, "engine/search.py", "fast = False")
    shallow = tmp_path_factory.mktemp("shallow") / "clone"
    git(checkout, "clone", "--quiet", "--depth", "1", checkout.as_uri(), str(shallow))
    told = run_table(shallow, "--check")
    assert told.returncode == 2
    assert "shallow" in told.stderr
    assert "Traceback" not in told.stderr


def test_a_folder_without_git_is_told(checkout: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    plain = shutil.copytree(checkout, tmp_path_factory.mktemp("plain") / "copy", ignore=shutil.ignore_patterns(".git"))
    told = run_table(plain)
    assert told.returncode == 2
    assert "no git checkout" in told.stderr
    assert "Traceback" not in told.stderr


@pytest.mark.parametrize(
    ("limit", "value", "met"),
    [("< 15", 15, False), ("≤ 15", 15, True), ("= base", 10, True), ("> 9.5", 10, True), ("≥ 1.25 × base", 12.4, False)],
)
def test_limits_are_numbers_or_other_figures(limit: str, value: float, met: bool) -> None:
    assert meets_limit(limit, value, {"base": 10}) is met


@pytest.mark.parametrize("limit", ["about 15", "< fifteen", "15"])
def test_what_is_no_limit_is_refused(limit: str) -> None:
    with pytest.raises(ValueError, match=r"fifteen|not a limit"):
        meets_limit(limit, 15, {"base": 10})


def test_every_kept_result_has_limits_that_it_answers() -> None:
    limits, results = read_limits(ROOT / "bench" / "limits.toml"), read_results(ROOT / "bench" / "results")
    assert results.keys() <= limits.keys()
    for bench, result in results.items():
        assert limits[bench].figures.keys() <= result.figures.keys()
        for figure, limit in limits[bench].figures.items():
            assert limit == "" or isinstance(meets_limit(limit, result.figures[figure], result.figures), bool)


def test_every_bench_of_the_table_can_be_run() -> None:
    for bench, entry in read_limits(ROOT / "bench" / "limits.toml").items():
        module = ROOT / "bench" / (entry.module or bench)
        assert module.with_suffix(".py").is_file() or (module / "__main__.py").is_file(), bench
