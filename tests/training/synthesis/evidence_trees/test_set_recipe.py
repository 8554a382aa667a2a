"""The set of evidence trees as a folder, and what its recipe refuses."""

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import orjson
import pytest

from app.domain.errors import InvalidInput
from app.domain.query import Language
from tests.training.synthesis.evidence_trees.forest import SMALL, check_rows, open_kit
from tests.workflows.agent_kit import PROMPTS, TODAY
from training.decontamination.known_texts import KnownTexts
from training.evaluation.harness.models import RunModels
from training.synthesis.catalogue import load_kind
from training.synthesis.evidence_trees.making import TreeKits
from training.synthesis.evidence_trees.set_recipe import make_recipe
from training.synthesis.set_request import SetRequest
from training.synthesis.source_corpus import SourceCorpus
from training.synthesis.training_set.make_set import make_set
from training.synthesis.training_set.manifest import SetOrigin
from training.synthesis.workshop import Workshop
from workflows.agents.codec import SchemaCodec
from workflows.chat_models.scripted import ScriptedModel


def read_rows(folder: Path) -> list[dict[str, Any]]:
    return [orjson.loads(line) for path in folder.glob("*/rows.jsonl") for line in path.read_bytes().splitlines()]


async def test_a_set_is_a_folder_whose_rows_are_sound(corpus: SourceCorpus, tmp_path: Path) -> None:
    open_model = partial(open_kit, ScriptedModel(SMALL))
    recipe = make_recipe([corpus], TreeKits(open_model, open_model), 1)
    origin = SetOrigin(kind="evidence-trees", wanted=8, seed=1, code="abc", today=TODAY)
    manifest = await make_set(recipe, origin, tmp_path / "set", KnownTexts())
    rows = read_rows(tmp_path / "set")
    assert len(rows) == sum(manifest.rows.values()) > 1
    assert check_rows(corpus, rows) == []
    assert "nodes per tree (paper: 54.5)" in (tmp_path / "set/report.html").read_text()


async def test_trees_are_as_broad_as_asked(corpus: SourceCorpus, tmp_path: Path) -> None:
    open_model = partial(open_kit, ScriptedModel(SMALL))
    recipe = make_recipe([corpus], TreeKits(open_model, open_model), 1, Language.ENGLISH, most_children=(3, 2))
    origin = SetOrigin(kind="evidence-trees", wanted=2, seed=1, code="abc", today=TODAY)
    await make_set(recipe, origin, tmp_path / "set", KnownTexts())
    trees = [json["tree"] for json in read_rows(tmp_path / "set")]
    assert trees
    for tree in trees:
        children = Counter(node["parent"] for node in tree["nodes"])
        assert all(node["depth"] <= 2 for node in tree["nodes"])
        assert all(children[node["id"]] <= (3 if node["depth"] == 0 else 2) for node in tree["nodes"])


@pytest.mark.parametrize(
    ("options", "some_corpus", "said"),
    [
        ({}, False, "--corpus"),
        ({"variants": "search,best"}, True, "variants"),
        ({"language": "fr"}, True, "language"),
        ({"children": "6,1"}, True, "children"),
    ],
)
def test_what_the_recipe_cannot_use_is_said(
    corpus: SourceCorpus, tmp_path: Path, options: Mapping[str, str], some_corpus: bool, said: str
) -> None:
    request = SetRequest("evidence-trees", tmp_path, 5, options=options)
    corpora: Sequence[SourceCorpus] = [corpus] if some_corpus else []
    workshop = Workshop(request, corpora, RunModels(None, None), PROMPTS, SchemaCodec(), TODAY)
    with pytest.raises(InvalidInput, match=said):
        load_kind("evidence-trees").open_recipe(workshop)
