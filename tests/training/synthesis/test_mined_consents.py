"""Readers' queries in a set: withdrawn ones leave it, and the manifest says when the consents were looked up."""

from datetime import UTC, datetime
from pathlib import Path

from tests.training.evaluation.small_benchmark import write_lines
from training.evaluation.builder.publishing import SetManifest
from training.synthesis.mined_consents import find_consent_moment
from training.synthesis.mined_queries import mix_with_mined
from training.synthesis.set_request import SetRequest
from training.synthesis.training_set.outcome import KeptRow, RefusedCandidate
from training.synthesis.training_set.recipe import SetRecipe

STAYS, GOES = "How do bees find their way?", "Why is my daughter's school closed?"


def publish_version(folder: Path, number: int, prompts: dict[str, str], withdrawn: tuple[str, ...] = ()) -> Path:
    path = write_lines(folder / f"v{number}" / "query.jsonl", [{"id": name, "prompt": text} for name, text in prompts.items()])
    manifest = SetManifest(
        version=number,
        items=len(prompts),
        sha256="",
        domains={},
        consents_checked_at=datetime(2026, 11, number, tzinfo=UTC),
        reviews_needed=1,
        collected=2,
        accepted=2,
        known={},
        against={},
        withdrawn=withdrawn,
        pseudonym_key="",
    )
    (path.parent / "manifest.json").write_text(manifest.model_dump_json())
    return path


async def refuse(_: object, __: object) -> KeptRow | RefusedCandidate:
    return RefusedCandidate(stage="never", reason="nothing is worked here")


def test_a_query_that_was_withdrawn_is_no_candidate_whichever_version_is_named(tmp_path: Path) -> None:
    first = publish_version(tmp_path, 1, {"a": STAYS, "b": GOES})
    second = publish_version(tmp_path, 2, {"a": STAYS}, withdrawn=("b",))
    for mined in (first, second):
        request = SetRequest("trajectories", tmp_path / "set", 10, options={"mined": str(mined), "share": "50"})
        recipe = mix_with_mined(SetRecipe((STAYS, GOES, "A made one?"), refuse, ask_query=str), request)
        assert [(each, recipe.classify(each)["origin"]) for each in recipe.candidates] == [
            (STAYS, "mined"),
            ("A made one?", "made"),
        ]


def test_the_moment_of_the_consents_is_the_earliest_of_all_that_a_set_rests_on(tmp_path: Path) -> None:
    first = publish_version(tmp_path, 1, {"a": STAYS})
    publish_version(tmp_path, 2, {"a": STAYS})
    newest, of_export = datetime(2026, 11, 2, tzinfo=UTC), datetime(2026, 10, 1, tzinfo=UTC)
    assert find_consent_moment(first, None) == newest
    assert find_consent_moment(first, of_export) == of_export
    assert find_consent_moment(None, of_export) == of_export
    assert find_consent_moment(write_lines(tmp_path / "own.jsonl", [{"id": "a", "prompt": STAYS}]), None) is None
