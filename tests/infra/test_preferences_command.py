"""`rubrica preferences export` as whoever runs a deployment meets it."""

import asyncio
import json
from pathlib import Path

from app.database.roles import WORKER_ROLE
from infra.local.postgres import LocalPostgres
from tests.support.stack import run_rubrica


def test_an_export_of_nothing_has_every_file_and_says_so(
    postgres_server: LocalPostgres, migrated_template: str, tmp_path: Path
) -> None:
    asyncio.run(postgres_server.ensure_database("exported", migrated_template))
    there = {"RUBRICA_WORKER_DATABASE_URL": postgres_server.url_of("exported", WORKER_ROLE)}
    home, out = tmp_path / "home", tmp_path / "out"
    home.mkdir()

    def command(*options: str, **settings: str) -> tuple[int, str]:
        done = run_rubrica(home, "preferences", "export", "--out", str(out), *options, **settings)
        return done.returncode, done.stdout + done.stderr

    code, said = command("--since", "2026-01-01", "--with-evidence", **there)
    assert (code, "pairs.jsonl: 0 rows" in said, "0 organisations" in said) == (0, True, True), said
    told = json.loads((out / "manifest.json").read_text())
    assert set(told["files"]) == {path.name for path in out.iterdir()} - {"manifest.json"}
    assert told["since"] == "2026-01-01T00:00:00Z"
    assert (home / "pseudonyms.key").stat().st_mode & 0o777 == 0o600
    assert told["pseudonym_key"] not in (home / "pseudonyms.key").read_bytes().hex()
    code, said = command(**there)
    assert (code, "is not empty" in said) == (2, True), said
    code, said = command(RUBRICA_DATABASE_URL="postgresql://u:p@127.0.0.1/d")
    assert (code, "RUBRICA_WORKER_DATABASE_URL" in said) == (2, True), said
