"""`rubrica retrain start --dry-run` says what a cycle would do, and what its plan wants and is not there."""

from pathlib import Path

import pytest

from app.domain.errors import InvalidInput
from app.settings import Settings
from infra.cli.retrain_commands import describe
from tests.support.retraining_plans import write_two_stages


async def test_a_dry_run_says_of_what_each_set_is_made(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = tmp_path / "reports"
    path = write_two_stages(tmp_path, f'inputs = ["{source}"]\ngenerator = "rubric"')
    with pytest.raises(InvalidInput, match="no such path"):
        await describe(Settings(), path)
    source.mkdir()
    assert await describe(Settings(), path) == 0
    told = capsys.readouterr().out
    assert "  made of @export\n" in told
    assert f"  made of {source}; rubrics by the version of rubric, or else what has the role rubric by then\n" in told
