"""The training export: only what is agreed to now, nothing of who said it, the same bytes for the same data."""

import hashlib
from datetime import UTC, datetime, timedelta
from pathlib import Path
from uuid import UUID, uuid4

import orjson
import pytest

from app.domain.errors import InvalidInput, SetupError
from app.preferences.nouns.edits import EditedSection, RevisedRubric
from app.preferences.nouns.feedback import PreferencePair, UndecidedPair
from app.preferences.service.exportable import list_exportable
from app.preferences.service.pseudonyms import Pseudonyms, read_key
from app.preferences.service.training_export import FILES, export
from tests.app.annotators import TENANT, make_choice, make_comparison, make_finished_run, make_report
from tests.app.preferences.consenting_readers import (
    BEGINNING,
    DELIVERED,
    NAMES,
    OTHER,
    OTHER_WAY,
    WAY,
    Readers,
    count_rows,
    keep_edit,
    rows,
)

ADD_DRAWER = "INSERT INTO collections (id, organisation_id, name, everyone) VALUES ($1, $2, 'Drawer', $3)"
ASK_LATER = """
    UPDATE runs SET organisation_id = $2, created_by = $3, created_at = created_at + make_interval(days => $5),
                    query = jsonb_set(query::jsonb, '{question}', to_jsonb($4::text))::json WHERE id = $1"""
NOTE_SEARCH = """
    INSERT INTO collection_runs (collection_id, run_id, organisation_id) SELECT $1, run_id, $2 FROM comparisons WHERE id = $3"""
COPY_RUBRIC = """
    INSERT INTO run_rubrics (run_id, drafted, rubric, edited_at, edited_by)
    SELECT $1, drafted, rubric, edited_at, edited_by FROM run_rubrics WHERE run_id = $2"""


async def test_pairs_come_with_their_lineage(readers: Readers, tmp_path: Path) -> None:
    manifest = await readers.export(tmp_path / "x")
    assert count_rows(tmp_path / "x") == [1, 1, 1, 1, 1, 1]
    [pair] = [PreferencePair.model_validate(row) for row in rows(tmp_path / "x", "pairs.jsonl")]
    assert (OTHER in pair.accepted.text, DELIVERED in pair.rejected.text) == (True, True)
    assert (pair.accepted.lineage, pair.rejected.lineage) == (OTHER_WAY, WAY)
    assert (pair.query.question, pair.strength, pair.hidden_seconds) == ("Why duties?", 3, 0)
    assert {dimension.value: favour.value for dimension, favour in pair.reasons.items()} == {
        "coherence": "accepted",
        "completeness": "neither",
    }
    assert pair.accepted.digest == hashlib.sha256(pair.accepted.text.encode()).hexdigest()
    assert len(pair.evidence_digest) == 64
    assert pair.asked_by_reader is False
    assert pair.split == "train", "of one question none is held out"
    [undecided] = [UndecidedPair.model_validate(row) for row in rows(tmp_path / "x", "undecided.jsonl")]
    assert undecided.both_bad
    assert undecided.reports[0].digest < undecided.reports[1].digest
    assert undecided.reader != pair.reader == rows(tmp_path / "x", "ratings.jsonl")[0]["reader"]
    assert manifest.said["choices"] >= 2
    [edit] = [EditedSection.model_validate(row) for row in rows(tmp_path / "x", "edits.jsonl")]
    assert (edit.heading_before, edit.heading) == ("In short", "Briefly")
    assert (DELIVERED in edit.before, edit.after.startswith("Duties cost. [[")) == (True, True)
    assert edit.reader not in (pair.reader, undecided.reader)
    assert (edit.lineage, edit.base) == (WAY, "delivered")
    [revised] = [RevisedRubric.model_validate(row) for row in rows(tmp_path / "x", "rubrics.jsonl")]
    assert revised.drafted is not None
    assert (revised.drafted.model, revised.drafted.prompt, revised.rubric.origin) == ("m1", "cd" * 32, "reader")
    assert (revised.rubric.criteria[0].title, revised.rubric.criteria[1:]) == ("Rates", revised.drafted.criteria[1:])
    assert (revised.reader, revised.overall) == (edit.reader, None)
    told = orjson.loads((tmp_path / "x" / "manifest.json").read_bytes())
    for name, file in told["files"].items():
        assert file["sha256"] == hashlib.sha256((tmp_path / "x" / name).read_bytes()).hexdigest()


async def test_the_newest_questions_are_held_out_with_all_that_was_said_of_them(readers: Readers, tmp_path: Path) -> None:
    for days in range(1, 5):
        run_id = await make_finished_run(readers.pool, make_report(DELIVERED), WAY)
        await readers.pool.execute(ASK_LATER, run_id, readers.organisation, readers.asker.id, f"Why duty {days}?", days)
        path = f"/v1/comparisons/{await make_comparison(readers.pool, readers.asker, run_id, OTHER, OTHER_WAY)}"
        for reader, verdict in ((readers.fond, make_choice("left", 1)), (readers.torn, make_choice("tie"))):
            await reader.get(path)
            await reader.post(f"{path}/choice", verdict)
    await readers.export(tmp_path / "x")
    found = [(row["query"]["question"], row["split"]) for row in rows(tmp_path / "x", "pairs.jsonl")]
    assert dict(found) == {
        "Why duties?": "train",
        "Why duty 1?": "train",
        "Why duty 2?": "train",
        "Why duty 3?": "validation",
        "Why duty 4?": "test",
    }
    assert {(row["query"]["question"], row["split"]) for row in rows(tmp_path / "x", "undecided.jsonl")} == {*found}


async def test_a_pair_of_documents_that_only_some_may_read_stays_out(readers: Readers, tmp_path: Path) -> None:
    for everyone in (True, False):
        await readers.pool.execute(ADD_DRAWER, drawer := uuid4(), readers.organisation, everyone)
        await readers.pool.execute(NOTE_SEARCH, drawer, readers.organisation, UUID(readers.comparison))
        await readers.export(tmp_path / str(everyone))
        assert count_rows(tmp_path / str(everyone))[:2] == ([1, 1] if everyone else [0, 0])
        assert OTHER in (tmp_path / str(everyone) / "pairs.jsonl").read_text() or not everyone
        await readers.pool.execute("UPDATE collections SET name = $2 WHERE id = $1", drawer, str(drawer))


async def test_nothing_exported_names_a_person(readers: Readers, tmp_path: Path) -> None:
    await readers.export(tmp_path / "x")
    everything = b"".join(path.read_bytes() for path in (tmp_path / "x").iterdir()).decode()
    people = (readers.asker.id, readers.fond.id, readers.torn.id, readers.organisation, readers.comparison)
    names = [form for person in people for form in (str(person), str(person).replace("-", ""), f"{person}@example.org")]
    plain = [hashlib.sha256(str(person).encode()).hexdigest()[:12] for person in people]
    assert [name for name in (*names, *plain, TENANT, "Bob Miller") if name in everything] == []
    assert all(path.stat().st_mode & 0o077 == 0 for path in (tmp_path / "x").iterdir())
    await readers.export(tmp_path / "y", comments=True)
    assert (tmp_path / "y" / "pairs.jsonl").read_text().count("Bob Miller") == 1


async def test_the_same_data_gives_the_same_bytes_and_another_key_other_names(readers: Readers, tmp_path: Path) -> None:
    now = datetime.now(UTC) + timedelta(hours=1)
    for name in ("a", "b"):
        await export(readers.pool, tmp_path / name, BEGINNING, now, NAMES)
    await export(readers.pool, tmp_path / "c", BEGINNING, now, Pseudonyms(b"other" * 8))
    for path in sorted((tmp_path / "a").iterdir()):
        assert path.read_bytes() == (tmp_path / "b" / path.name).read_bytes()
    [one], [other] = rows(tmp_path / "a", "pairs.jsonl"), rows(tmp_path / "c", "pairs.jsonl")
    assert {name for name in one if one[name] != other[name]} == {"id", "reader", "organisation", "evidence"}


async def test_what_is_taken_back_or_erased_is_out_of_the_next_export(readers: Readers, tmp_path: Path) -> None:
    async def left(name: str) -> list[int]:
        await readers.export(tmp_path / name)
        return count_rows(tmp_path / name)

    assert await left("all") == [1, 1, 1, 1, 1, 1]
    await readers.fond.put("/v1/consent", {"person": False})
    assert await left("without one reader") == [0, 1, 0, 1, 1, 1]
    await readers.fond.put("/v1/consent", {"person": True})
    # Consent does not reach back: what was said before it was given again stays out.
    assert await left("given again") == [0, 1, 0, 1, 1, 1]
    await readers.pool.execute("DELETE FROM users WHERE id = $1", readers.torn.id)
    assert await left("without the erased") == [0, 0, 0, 0, 1, 1]
    assert await readers.pool.fetchval("SELECT count(*) FROM choices WHERE user_id = $1", readers.torn.id) == 0


async def test_a_text_with_the_words_of_two_needs_the_consent_of_both(readers: Readers, tmp_path: Path) -> None:
    [run_id] = await readers.pool.fetchrow("SELECT run_id FROM report_tasks WHERE created_by = $1", readers.asker.id)
    for person, text in ((readers.torn, "Duties cost all. [1]"), (readers.fond, "Duties cost us all. [1]")):
        edited = await person.put(f"/v1/runs/{run_id}/sections/0", {"heading": "Briefly", "markdown": text})
        assert edited.status < 300, edited.body
        await keep_edit(readers.pool, run_id)
    [ruled] = await readers.pool.fetchrow("SELECT run_id FROM run_rubrics WHERE edited_by = $1", readers.asker.id)
    criteria = (await readers.fond.get(f"/v1/runs/{ruled}/rubric")).json["rubric"]["criteria"]

    async def exported(name: str) -> list[int]:
        await readers.export(tmp_path / name)
        return count_rows(tmp_path / name)[4:]

    assert await exported("all") == [3, 1]
    await readers.torn.put("/v1/consent", {"person": False})
    assert await exported("without the second") == [1, 1]
    assert (await readers.fond.put(f"/v1/runs/{ruled}/rubric", {"criteria": criteria[:-1]})).status == 200
    assert await exported("with a rubric by two") == [1, 0]
    await readers.pool.execute("DELETE FROM users WHERE id = $1", readers.torn.id)
    assert await exported("without the erased") == [1, 0]


async def test_a_rubric_of_systems_side_by_side_is_one_row(readers: Readers, tmp_path: Path) -> None:
    [first] = await readers.pool.fetchrow("SELECT run_id FROM run_rubrics WHERE edited_by = $1", readers.asker.id)
    for _ in range(2):
        beside = UUID((await readers.asker.post("/v1/runs", {"question": "Which duties?"})).json["id"])
        shared = {"question": "Which duties?", "evidence_of": str(first)}
        await readers.pool.execute("UPDATE runs SET query = $2 WHERE id = $1", beside, orjson.dumps(shared).decode())
        await readers.pool.execute(COPY_RUBRIC, beside, first)
    before = (await readers.export(tmp_path / "x")).said["rubrics"]
    assert len(rows(tmp_path / "x", "rubrics.jsonl")) == 1
    await readers.pool.execute("DELETE FROM runs WHERE id = $1", first)
    after = (await readers.export(tmp_path / "without the first")).said["rubrics"]
    assert (len(rows(tmp_path / "without the first", "rubrics.jsonl")), after) == (1, before)


@pytest.mark.parametrize("who", ["organisation", "asker", "erased asker"])
async def test_nothing_is_exported_without_the_organisation_and_whoever_asked(readers: Readers, tmp_path: Path, who: str) -> None:
    if who == "organisation":
        await readers.asker.put("/v1/consent", {"organisation": False})
    elif who == "asker":
        await readers.asker.put("/v1/consent", {"person": False})
    else:
        await readers.pool.execute("DELETE FROM users WHERE id = $1", readers.asker.id)
    await readers.export(tmp_path / "x")
    assert count_rows(tmp_path / "x") == [0, 0, 0, 0, 0, 0]


async def test_what_may_still_change_and_what_was_said_before_are_left_out(readers: Readers, tmp_path: Path) -> None:
    await readers.export(tmp_path / "now", later=timedelta())
    # One reader was told which was which and so cannot change the choice; the other still can.
    assert count_rows(tmp_path / "now") == [1, 0, 1, 1, 1, 1]
    await readers.export(tmp_path / "later", since=datetime.now(UTC))
    assert count_rows(tmp_path / "later") == [0, 0, 0, 0, 0, 0]


async def test_a_folder_with_something_in_it_is_refused_and_a_key_is_made_once(readers: Readers, tmp_path: Path) -> None:
    (tmp_path / "x").mkdir()
    (tmp_path / "x" / "old.jsonl").write_text("{}")
    with pytest.raises(InvalidInput, match="not empty"):
        await readers.export(tmp_path / "x")
    key = tmp_path / "pseudonyms.key"
    assert read_key(key) == read_key(key) == key.read_bytes()
    assert (len(key.read_bytes()), key.stat().st_mode & 0o777) == (32, 0o600)
    key.write_bytes(b"short")
    with pytest.raises(SetupError, match="holds no key"):
        read_key(key)


async def test_what_is_exportable_is_what_an_export_has(readers: Readers, tmp_path: Path) -> None:
    async def listed() -> frozenset[str]:
        return await list_exportable(readers.pool, NAMES, datetime.now(UTC) + timedelta(hours=1))

    def exported(folder: Path) -> set[str]:
        return {row["id"] for name in FILES for row in rows(folder, name)}

    await readers.export(tmp_path / "all")
    assert await listed() == exported(tmp_path / "all")
    assert len(await listed()) == 6
    await readers.fond.put("/v1/consent", {"person": False})
    await readers.export(tmp_path / "fewer")
    assert await listed() == exported(tmp_path / "fewer")
    assert len(await listed()) == 4
