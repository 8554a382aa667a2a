"""A story that is told again in the same folder goes on from what it has behind it."""

from pathlib import Path

import pytest

from bench.loop.kept import Kept


async def test_what_was_done_is_not_done_again_and_what_failed_is(tmp_path: Path) -> None:
    done: list[str] = []

    async def work() -> str:
        done.append("again")
        if len(done) == 1:
            raise RuntimeError("cut off")
        return "a model"

    file = tmp_path / "kept.json"
    with pytest.raises(RuntimeError):
        await Kept(file).once("base", work)
    assert "base" not in Kept(file)
    assert [await Kept(file).once("base", work) for _ in range(2)] == ["a model", "a model"]
    assert len(done) == 2
