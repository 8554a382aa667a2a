"""`make data-demo` makes a set of every kind, whose report can be read and which `datasets` opens as it is."""

import asyncio
from pathlib import Path

import pytest

from tests.support.data_demo import FROM_CORPUS, demonstrate
from tests.support.recorded_demo import FROM_RUNS
from training.synthesis.catalogue import LOCATIONS
from training.synthesis.training_set.folder import SetFolder


@pytest.fixture(scope="module", params=[*FROM_CORPUS, *FROM_RUNS])
def made(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> SetFolder:
    """The set of a kind."""
    folder = tmp_path_factory.mktemp(request.param)
    assert asyncio.run(demonstrate(request.param, folder / "sets", folder / "home")) == 0
    return SetFolder(folder / "sets" / request.param)


@pytest.mark.slow
def test_a_set_of_each_kind_is_made_and_told(made: SetFolder) -> None:
    manifest = made.read_manifest()
    assert manifest.rows["train"] > 0, manifest.refused
    assert f"{sum(manifest.rows.values())} rows" in (made.path / "report.html").read_text()
    assert "dataset_info" in (made.path / "README.md").read_text()


@pytest.mark.slow
@pytest.mark.extra("trl")
def test_a_set_of_each_kind_is_opened_as_it_is(made: SetFolder, tmp_path: Path) -> None:
    from datasets import load_dataset

    opened = load_dataset(str(made.path), cache_dir=str(tmp_path))
    assert {split: len(opened[split]) for split in opened} == {split: n for split, n in made.read_manifest().rows.items() if n}


def test_every_kind_is_demonstrated() -> None:
    assert {*FROM_CORPUS, *FROM_RUNS} == LOCATIONS.keys()
