"""`make data-demo` makes a set of every kind, whose report can be read and which `datasets` opens as it is."""

from pathlib import Path

import pytest

from tests.support.data_demo import FROM_CORPUS, demonstrate
from tests.support.recorded_demo import FROM_RUNS
from training.synthesis.catalogue import LOCATIONS
from training.synthesis.training_set.folder import SetFolder


@pytest.mark.slow
@pytest.mark.parametrize("kind", [*FROM_CORPUS, *FROM_RUNS])
async def test_a_set_of_each_kind_is_made_and_told(kind: str, tmp_path: Path) -> None:
    assert await demonstrate(kind, tmp_path / "sets", tmp_path / "home") == 0
    manifest = SetFolder(tmp_path / "sets" / kind).read_manifest()
    assert manifest.rows["train"] > 0, manifest.refused
    report = (tmp_path / "sets" / kind / "report.html").read_text()
    assert f"{sum(manifest.rows.values())} rows" in report
    assert "dataset_info" in (tmp_path / "sets" / kind / "README.md").read_text()


@pytest.mark.slow
@pytest.mark.extra("trl")
@pytest.mark.parametrize("kind", [*FROM_CORPUS, *FROM_RUNS])
async def test_a_set_of_each_kind_is_opened_by_datasets_as_it_is(kind: str, tmp_path: Path) -> None:
    from datasets import load_dataset

    assert await demonstrate(kind, tmp_path / "sets", tmp_path / "home") == 0
    manifest = SetFolder(tmp_path / "sets" / kind).read_manifest()
    opened = load_dataset(str(tmp_path / "sets" / kind), cache_dir=str(tmp_path / "cache"))
    assert {split: len(opened[split]) for split in opened} == {split: n for split, n in manifest.rows.items() if n}


def test_every_kind_is_demonstrated() -> None:
    assert {*FROM_CORPUS, *FROM_RUNS} == LOCATIONS.keys()
