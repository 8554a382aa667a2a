"""The small corpus, opened once for all tests of evidence trees: they only read it."""

from collections.abc import Iterator

import pytest

from tests.training.synthesis.evidence_trees.forest import open_corpus
from training.synthesis.source_corpus import SourceCorpus


@pytest.fixture(scope="package")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SourceCorpus]:
    with open_corpus(tmp_path_factory.mktemp("canals")) as opened:
        yield opened
