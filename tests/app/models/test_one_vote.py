"""One vote from the click to the card of the model that learned from it, and out again."""

import asyncio
import shutil
import subprocess
from collections.abc import Awaitable, Callable
from pathlib import Path

import asyncpg
import pytest

from app.domain.served_models import ModelRole, ServedModel
from app.models.service import registry, serving
from app.models.service.erasure import list_to_retrain
from app.models.storage import aliases, served
from tests.app.models.trained_models import add_version
from tests.app.models.trained_runs import write_run
from tests.app.preferences.consenting_readers import Readers
from tests.support.adapter_server import serve_adapters
from tests.support.stack import run_rubrica

Command = Callable[..., Awaitable[subprocess.CompletedProcess[str]]]
BASE = ServedModel(name="base-model", address="http://127.0.0.1:9/v1")


@pytest.fixture
def command(tmp_path: Path, api_urls: tuple[str, str]) -> Command:
    """`rubrica ARGUMENTS` over the module's database, with a home of its own."""
    (tmp_path / "home").mkdir()

    async def run(*arguments: str, code: int = 0) -> subprocess.CompletedProcess[str]:
        told = {"RUBRICA_WORKER_DATABASE_URL": api_urls[1]}
        done = await asyncio.to_thread(run_rubrica, tmp_path / "home", *arguments, folder=tmp_path, **told)
        assert done.returncode == code, done.stdout + done.stderr
        return done

    return run


@pytest.fixture(autouse=True)
async def settings_model(pool: asyncpg.Pool) -> None:
    await pool.execute("TRUNCATE model_versions, served_models, model_aliases, alias_moves, canaries, role_holds CASCADE")
    await serving.register_settings(pool, [BASE])


async def learned(command: Command, tmp_path: Path, policy: str) -> str:
    """What the deployment's readers prefer is exported, made a set, trained on (but for the training), added and promoted."""
    await command("preferences", "export", "--out", "export")
    await command("data", "make", "preference-pairs", "--input", "export", "--rows", "1", "--out", "set")
    write_run(tmp_path / "run", [tmp_path / "set"])
    added = await command("registry", "add", "run", "--role", "writer", "--on-erasure", policy, "--reason", "first of its kind")
    name = added.stdout.strip()
    await command("registry", "serve", name, "--address", "http://127.0.0.1:9/v1", "--temperature", "1")
    await command("registry", "promote", name, "--unasked", "--reason", "better in a gate")
    return name


async def writer_of(pool: asyncpg.Pool) -> str:
    return (await aliases.list_all(pool))[ModelRole.WRITER].served


async def test_an_erased_vote_withdraws_the_version_that_learned_from_it(
    readers: Readers, pool: asyncpg.Pool, command: Command, tmp_path: Path
) -> None:
    name = await learned(command, tmp_path, "withdraw")
    assert await writer_of(pool) == name
    known = await served.get(pool, name)
    assert known is not None
    assert known.model.temperature == 1
    version = await registry.find_version(pool, name)
    kept = tmp_path / "home" / "artifacts" / version.artifact
    assert (kept / "adapter_model.safetensors").read_bytes() == b"weights"
    card = (await command("registry", "card", name)).stdout
    assert "It learned from 1 judgement of a reader" in card
    assert (await command("registry", "erased")).stdout == "no version learned from judgements that were erased since\n"

    await pool.execute("DELETE FROM users WHERE id = $1", readers.fond.id)
    shutil.copytree(kept, tmp_path / "left")
    done = (await command("registry", "erased")).stdout
    assert f"{name}: 1 of 1 judgements erased; withdrawn; the writer is {BASE.name} again" in done
    assert (await writer_of(pool), kept.exists()) == (BASE.name, False)
    detail = await registry.describe_version(pool, version.id)
    assert (detail.version.state, detail.pairs, detail.changes[-1].by) == ("withdrawn", 0, "erasure")
    card = (await command("registry", "card", name)).stdout
    assert "State: withdrawn" in card
    assert "1 of 1 judgements was erased; withdrawn; the writer is base-model again" in card
    assert (await command("registry", "erased")).stdout == "no version learned from judgements that were erased since\n"
    shutil.copytree(tmp_path / "left", kept)  # as if the command had been killed before it deleted the weights
    assert f"deleted the artifact {version.artifact}" in (await command("registry", "erased")).stdout
    assert not kept.exists()
    again = await command("registry", "promote", name, "--unasked", "--reason", "all the same", code=1)
    assert "that is its last state" in again.stderr


async def test_promotion_asks_the_server_for_the_model(pool: asyncpg.Pool, command: Command) -> None:
    lonely, missing, there = [await add_version(pool) for _ in range(3)]
    async with serve_adapters() as server:
        server.loaded[there.name] = "/nowhere"
        addresses = {lonely.name: "http://127.0.0.1:9/v1", missing.name: server.url, there.name: server.url}
        for name, address in addresses.items():
            await command("registry", "serve", name, "--address", address)
        for version in (lonely, missing):
            refused = await command("registry", "promote", version.name, "--reason", "why not", code=2)
            assert f"{version.name} is not promoted, for {addresses[version.name]} does not answer with it" in refused.stderr
            assert "say --unasked" in refused.stderr
            assert await writer_of(pool) == BASE.name
        done = await command("registry", "promote", there.name, "--reason", "it answers")
    assert await writer_of(pool) == there.name
    assert "its runs ask no model in any role" in done.stdout  # the settings of the command name none
    await command("registry", "promote", lonely.name, "--unasked", "--reason", "its server comes up tomorrow")
    assert await writer_of(pool) == lonely.name


async def test_consent_taken_back_marks_the_version_for_the_next_cycle(
    readers: Readers, pool: asyncpg.Pool, command: Command, tmp_path: Path
) -> None:
    name = await learned(command, tmp_path, "retrain")
    assert list(await list_to_retrain(pool)) == []
    await readers.asker.put("/v1/consent", {"person": False})
    done = (await command("registry", "erased")).stdout
    assert f"{name}: 1 of 1 judgements erased; marked for the next cycle\n{name} is to be trained again\n" == done
    assert [each.name for each in await list_to_retrain(pool)] == [name]
    assert await writer_of(pool) == name
    shown = (await command("registry", "show", name)).stdout
    assert "erasure of" in shown
    assert "retrain" in shown
    await command("registry", "back", "writer", "--reason", "until it is trained again")
    assert (await writer_of(pool), list(await list_to_retrain(pool))) == (BASE.name, [])


async def test_rows_under_another_key_are_not_taken_for_erased(
    readers: Readers, pool: asyncpg.Pool, command: Command, tmp_path: Path
) -> None:
    name = await learned(command, tmp_path, "withdraw")
    (tmp_path / "home" / "pseudonyms.key").rename(tmp_path / "first.key")
    refused = await command("registry", "erased", code=1)
    assert f"{name} learned from rows under another key" in refused.stderr
    assert await writer_of(pool) == name
    another = await command("registry", "add", "run", "--role", "writer", "--reason", "again", code=2)
    assert "name the key of their export by --key-file" in another.stderr
    assert (await command("registry", "erased", "--key-file", "first.key")).stdout.startswith("no version")


async def test_a_version_that_is_all_its_role_has_is_told_of_and_stays(
    readers: Readers, pool: asyncpg.Pool, command: Command, tmp_path: Path
) -> None:
    name = await learned(command, tmp_path, "withdraw")
    await pool.execute("UPDATE served_models SET gone_at = now() WHERE name = $1", BASE.name)
    await readers.fond.put("/v1/consent", {"person": False})
    told = await command("registry", "erased", code=1)
    assert "no former model that may still serve" in told.stderr
    assert await writer_of(pool) == name
    await pool.execute("UPDATE served_models SET gone_at = NULL")
    assert "withdrawn; the writer is base-model again" in (await command("registry", "erased")).stdout
