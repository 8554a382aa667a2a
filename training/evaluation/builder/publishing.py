"""Publishing a reviewed queue as a version of the set: questions with consent that experts accept and no public set has.

    <set>/v1/query.jsonl  <set>/v1/manifest.json  <set>/v2/...

`query.jsonl` is in DeepResearch Bench's form (id, topic, language, prompt), so that its benchmarks read it.
"""

import hashlib
import shutil
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path

import orjson

from app.domain.benchmark import CandidateQuestion, Review
from app.domain.errors import Conflict, InvalidInput
from app.domain.query import Language
from app.domain.value import Value
from training.decontamination.known_texts import KnownTexts
from training.evaluation.builder.queue import ReviewQueue, find_acceptance
from training.folders import PART

FORMAT = "rubrica.benchmark/1"
QUERIES, MANIFEST = "query.jsonl", "manifest.json"


class SetItem(Value):
    """One question of a set."""

    id: str
    topic: str
    language: Language
    prompt: str


class SetManifest(Value):
    """The contents and the origin of a version. `withdrawn` are ids of the last version whose consent is gone: drop them.

    `known` counts by public set the questions left out because the set has them, `against` the questions of each public set.
    """

    format: str = FORMAT
    version: int
    items: int
    sha256: str
    domains: dict[str, int]
    consents_checked_at: datetime
    reviews_needed: int
    collected: int
    accepted: int
    known: dict[str, int]
    against: dict[str, int]
    withdrawn: tuple[str, ...] = ()
    pseudonym_key: str


def publish(
    queue: ReviewQueue,
    consented: Mapping[str, CandidateQuestion],
    public: KnownTexts,
    against: Mapping[str, int],
    out: Path,
    needed: int,
    now: datetime,
    key: str,
) -> SetManifest:
    """Write the next version. It has only questions of `consented`, which have consent now.

    Raises:
        InvalidInput: nothing is left to publish, or no public set was given.
        Conflict: the last version is the same.
    """
    if not against:
        raise InvalidInput("name the public sets that the questions must not stand in: --against NAME=DATA")
    queue.forget(consented.keys())
    chosen = _choose_items(queue, needed)
    known = {item.id: public.find_set(item.prompt) or public.find_set(consented[item.id].question) for item in chosen}
    items = sorted((item for item in chosen if not known[item.id]), key=lambda item: item.id)
    if not items:
        raise InvalidInput("no question is accepted and new; review some first: rubrica eval build review")
    before = _find_newest(out)
    content = b"".join(orjson.dumps(item.model_dump(mode="json"), option=orjson.OPT_APPEND_NEWLINE) for item in items)
    digest = hashlib.sha256(content).hexdigest()
    if before is not None and before.sha256 == digest:
        raise Conflict(f"version {before.version} has the same questions already")
    manifest = SetManifest(
        version=before.version + 1 if before else 1,
        items=len(items),
        sha256=digest,
        domains=dict(sorted(Counter(item.topic for item in items).items())),
        consents_checked_at=now,
        reviews_needed=needed,
        collected=len(consented),
        accepted=len(chosen),
        known=dict(sorted(Counter(name for name in known.values() if name).items())),
        against=dict(against),
        withdrawn=tuple(sorted(_read_ids(out, before) - consented.keys())),
        pseudonym_key=key,
    )
    _write_version(out / f"v{manifest.version}", content, manifest)
    return manifest


def _write_version(folder: Path, content: bytes, manifest: SetManifest) -> None:
    """Write a version, which appears as a whole. What a killed process left in its place has no manifest, and goes."""
    part = folder.with_name(folder.name + PART)
    for left in (part, folder):
        shutil.rmtree(left, ignore_errors=True)
    part.mkdir(mode=0o700, parents=True)
    (part / QUERIES).write_bytes(content)
    (part / MANIFEST).write_text(manifest.model_dump_json(indent=1), encoding="utf-8")
    part.rename(folder)


def holds_readers_questions(folder: Path) -> bool:
    """Say whether a folder holds a published version."""
    try:
        return SetManifest.model_validate_json((folder / MANIFEST).read_bytes()).format == FORMAT
    except (OSError, ValueError):
        return False


def _choose_items(queue: ReviewQueue, needed: int) -> list[SetItem]:
    by_question: dict[str, list[Review]] = {}
    for review in queue.read_reviews():
        by_question.setdefault(review.id, []).append(review)
    found = {name: find_acceptance(reviews, needed) for name, reviews in by_question.items()}
    candidates = queue.read_candidates()
    return [_item_of(candidates[name], review) for name, review in found.items() if review is not None and name in candidates]


def _item_of(candidate: CandidateQuestion, review: Review) -> SetItem:
    prompt = review.question or candidate.question
    return SetItem(id=candidate.id, topic=review.domain.value, language=candidate.language, prompt=prompt)


def _find_newest(out: Path) -> SetManifest | None:
    files = [path for path in out.glob(f"v*/{MANIFEST}") if path.parent.suffix != PART]
    found = [SetManifest.model_validate_json(path.read_bytes()) for path in files]
    return max(found, key=lambda manifest: manifest.version, default=None)


def _read_ids(out: Path, version: SetManifest | None) -> set[str]:
    if version is None:
        return set()
    lines: Sequence[bytes] = (out / f"v{version.version}" / QUERIES).read_bytes().splitlines()
    return {str(orjson.loads(line)["id"]) for line in lines}
