"""Export feedback for training: JSON Lines and a manifest, of what people and organisations consent to at this moment.

The same data, key and times give the same bytes.
"""

import hashlib
import os
from collections import Counter
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, BinaryIO

import asyncpg
import orjson
from asyncpg import Record
from pydantic import Field

from app.comparisons.service.comparisons import CHANGEABLE_FOR
from app.domain.errors import InvalidInput
from app.domain.split import HELD_OUT, Split
from app.domain.value import Value
from app.preferences.nouns.feedback import UndecidedPair
from app.preferences.service.held_out import hold_out_newest
from app.preferences.service.pseudonyms import Pseudonyms
from app.preferences.service.training_evidence import LeftOut, evidence_of
from app.preferences.service.training_rows import edited_section_of, flagged_claim_of, pair_of, rated_report_of, revised_rubric_of
from app.preferences.storage.training_export import StoredEvidence, open_snapshot

SCHEMA = "rubrica.preferences/1"
PAIRS, UNDECIDED, RATINGS, FLAGS = "pairs.jsonl", "undecided.jsonl", "ratings.jsonl", "flags.jsonl"
EDITS, RUBRICS = "edits.jsonl", "rubrics.jsonl"
EVIDENCE = "evidence.jsonl"
FILES = (PAIRS, UNDECIDED, RATINGS, FLAGS, EDITS, RUBRICS)
MANIFEST = "manifest.json"


class Manifest(Value):
    """The contents of an export. `said` counts all feedback since then, so that readers see how much was left out.

    `evidence_left_out` counts the runs whose evidence stays here, by reason. `files` gives rows and SHA-256 of each file;
    `consents_checked_at` is the moment at which consents were checked.
    """

    format: str
    since: datetime
    consents_checked_at: datetime
    consenting: dict[str, int]
    said: dict[str, int]
    files: dict[str, dict[str, int | str]]
    pseudonym_key: str
    comments: bool
    evidence_left_out: dict[str, int] = Field(default={})


class _File:
    """A file of JSON Lines that counts its rows and takes its digest as it is written."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._digest = hashlib.sha256()
        self._rows = 0

    def add(self, row: Value, terse: bool = False) -> None:
        """Write a row; `terse`: without fields that say the default."""
        line = orjson.dumps(
            row.model_dump(mode="json", exclude_defaults=terse), option=orjson.OPT_SORT_KEYS | orjson.OPT_APPEND_NEWLINE
        )
        self._stream.write(line)
        self._digest.update(line)
        self._rows += 1

    @property
    def summary(self) -> dict[str, int | str]:
        return {"rows": self._rows, "sha256": self._digest.hexdigest()}


async def export(
    database: asyncpg.Pool,
    out: Path,
    since: datetime,
    now: datetime,
    names: Pseudonyms,
    comments: bool = False,
    evidence: bool = False,
    held_out: Mapping[Split, float] = HELD_OUT,
) -> Manifest:
    """Write the feedback into the new or empty folder `out`.

    `comments`: with readers' own words, which may name people. `evidence`: with what compared reports were written from.
    `held_out` are the shares of the newest questions that are held out.

    Raises:
        InvalidInput: the folder is not empty, or cannot be written. Old rows must not survive beside new ones.
        Unavailable: the database does not answer.
    """
    files = _open_files(out, (*FILES, EVIDENCE) if evidence else FILES)
    written = {name: _File(stream) for name, stream in files.items()}
    left_out = Counter[LeftOut]()
    try:
        async with open_snapshot(database) as moment:
            sides = hold_out_newest(await moment.read_asked(since, now, CHANGEABLE_FOR), held_out)
            async for row in moment.read_choices(since, now, CHANGEABLE_FOR):
                pair = pair_of(row, names, sides, comments)
                written[UNDECIDED if isinstance(pair, UndecidedPair) else PAIRS].add(pair)
            await _write_all(moment.read_ratings(since), written[RATINGS], lambda row: rated_report_of(row, names, comments))
            await _write_all(moment.read_flags(since), written[FLAGS], lambda row: flagged_claim_of(row, names, comments))
            await _write_all(moment.read_edits(since), written[EDITS], lambda row: edited_section_of(row, names))
            await _write_all(moment.read_rubrics(since), written[RUBRICS], lambda row: revised_rubric_of(row, names))
            if evidence:
                left_out = await _write_evidence(moment.read_evidence(since, now, CHANGEABLE_FOR), written[EVIDENCE], names)
            given = dict(await moment.count_given(since))
    finally:
        for stream in files.values():
            stream.close()
    manifest = _make_manifest(written, given, since, now, names, comments, left_out)
    with _open_new(out / MANIFEST) as stream:
        stream.write(orjson.dumps(manifest.model_dump(mode="json"), option=orjson.OPT_INDENT_2 | orjson.OPT_SORT_KEYS))
    return manifest


async def _write_all(rows: AsyncIterator[Record], file: _File, to_noun: Callable[[Record], Value]) -> None:
    async for row in rows:
        file.add(to_noun(row))


async def _write_evidence(stored: AsyncIterator[StoredEvidence], file: _File, names: Pseudonyms) -> Counter[LeftOut]:
    """Write the evidence of each run that may leave, and count the others."""
    left_out = Counter[LeftOut]()
    async for run, reports in stored:
        found = evidence_of(run, reports, names)
        if isinstance(found, LeftOut):
            left_out[found] += 1
        else:
            file.add(found, terse=True)
    return left_out


def _make_manifest(
    written: dict[str, _File],
    given: dict[str, Any],
    since: datetime,
    now: datetime,
    names: Pseudonyms,
    comments: bool,
    left_out: Counter[LeftOut],
) -> Manifest:
    return Manifest(
        format=SCHEMA,
        since=since.astimezone(UTC),
        consents_checked_at=now.astimezone(UTC),
        consenting={name: given[name] for name in ("organisations", "people")},
        said={name: given[name] for name in ("choices", "ratings", "flags", "edits", "rubrics")},
        files={name: file.summary for name, file in written.items()},
        pseudonym_key=names.fingerprint,
        comments=comments,
        evidence_left_out={reason.value: count for reason, count in left_out.items()},
    )


def _open_files(out: Path, names: Sequence[str]) -> dict[str, BinaryIO]:
    try:
        out.mkdir(mode=0o700, parents=True, exist_ok=True)
        if any(out.iterdir()):
            raise InvalidInput(f"{out} is not empty; an export goes into a folder of its own")
        return {name: _open_new(out / name) for name in names}
    except OSError as error:
        raise InvalidInput(f"{out} cannot be written: {error}") from error


def _open_new(path: Path) -> BinaryIO:
    """Open a new file that only its owner can read."""
    return open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb")
