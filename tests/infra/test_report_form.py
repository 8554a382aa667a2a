"""`rubrica eval form`: what a person is told about the form of reports."""

from pathlib import Path

from typer.testing import CliRunner

from infra.cli.main import app

SOUND = "# Tariffs\n\n## Rates\n\nRates on wool rose in 1828 [1].\n\n## Sources\n\n[1] A message\n"
POOR = """# Tariffs

### Rates

By 2024 the rates will have doubled [2].

| Year | Rate |
|---|---|
| 1828 | 61 | high |

## Sources

[1] A message
"""


def form(*arguments: str) -> tuple[int, str]:
    done = CliRunner().invoke(app, ["eval", "form", *arguments])
    return done.exit_code, done.output


def test_faults_are_told_with_their_places_and_rates_over_all(tmp_path: Path) -> None:
    good, bad = tmp_path / "good.md", tmp_path / "bad.md"
    good.write_text(SOUND)
    bad.write_text(POOR)
    code, said = form(str(good), str(bad), "--written", "2026-03-01")
    assert code == 1
    told = [line.removeprefix(f"{bad}: ") for line in said.splitlines() if line.startswith(str(tmp_path))]
    assert told == [
        "table in line 7: columns",
        "heading “Rates”: skipped",
        "citation [2]: dangling",
        "citation [1]: unused",
        "foretells what is past (By 2024): By 2024 the rates will have doubled [2].",
    ]
    assert "table_errors: 1" in said
    assert "table_errors_after_repair: 0" in said
    assert form(str(bad), "--written", "2023-03-01")[1].count("foretells") == 0


def test_a_sound_report_and_one_that_is_not_there(tmp_path: Path) -> None:
    good = tmp_path / "good.md"
    good.write_text(SOUND)
    code, said = form(str(good))
    assert code == 0
    assert said.startswith("no fault found")
    assert "tables" in said
    assert form(str(tmp_path / "gone.md"))[0] == 2
