"""Finishing a set: its worked candidates become files. The same candidates give the same bytes."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import orjson

from app.domain.budget import Usage
from app.domain.split import Split
from training.decontamination.known_texts import KnownTexts
from training.decontamination.near_meanings import name_measure
from training.synthesis.training_set.card import render_card
from training.synthesis.training_set.folder import CARD, MANIFEST, REFUSED, REPORT, ROWS, SetFolder
from training.synthesis.training_set.manifest import SetOrigin, TrainingSetManifest
from training.synthesis.training_set.mixture import Mixing
from training.synthesis.training_set.outcome import KeptRow, RefusedCandidate, WorkedCandidate
from training.synthesis.training_set.recipe import SetRecipe
from training.synthesis.training_set.report_page import render_report
from training.synthesis.training_set.splits import assign_splits

AUDIT_STAGE, KNOWN_STAGE, MIXTURE_STAGE, SPLIT_STAGE = "audit", "known", "mixture", "split"
UNCHECKED = "the rows were compared with no public benchmark: give --against NAME=DATA, or set RUBRICA_BENCHMARKS_DIR"
LINKED = "it would join rows of two splits: {}"


def finish_set(
    folder: SetFolder,
    origin: SetOrigin,
    recipe: SetRecipe[Any],
    worked: Sequence[WorkedCandidate],
    public: KnownTexts,
    rejected: Mapping[str, str],
    mixing: Mixing | None = None,
) -> TrainingSetManifest:
    """Take out what people rejected, what public sets have and what a mixture has no room for; split and write the rest.

    `rejected` has the reasons of people by the ids of rows.
    """
    every = {each.candidate: each.kept for each in worked if each.kept is not None}
    kept = {name: row for name, row in every.items() if name not in rejected}
    refused = {each.candidate: each.refused for each in worked if each.refused is not None}
    known = {name: found for name, row in kept.items() if (found := find_public_set(public, row, recipe.trained))}
    fresh = {name: row for name, row in kept.items() if name not in known}
    mixing = mixing or Mixing()
    crowded = mixing.find_crowded(fresh)
    notices = [*mixing.list_notices(fresh, crowded), *([] if origin.against else [UNCHECKED])]
    fresh = {name: row for name, row in fresh.items() if name not in crowded}
    encoder = recipe.open_encoder()
    splits = assign_splits(fresh, origin.seed, encoder, recipe.walls)
    refused |= {name: _refuse_row(AUDIT_STAGE, why, every[name]) for name, why in rejected.items()}
    refused |= {name: _refuse_row(KNOWN_STAGE, f"{found} has this text, or nearly", kept[name]) for name, found in known.items()}
    refused |= {name: _refuse_row(MIXTURE_STAGE, why, kept[name]) for name, why in crowded.items()}
    refused |= {name: _refuse_row(SPLIT_STAGE, LINKED.format(why), fresh[name]) for name, why in splits.leaving.items()}
    order = [each.candidate for each in worked]
    rows = {split: {name: fresh[name] for name in order if splits.sides.get(name) is split} for split in Split}
    files = {f"{split}/{ROWS}": _list_rows(found) for split, found in rows.items()}
    files[REFUSED] = _list_refused({name: refused[name] for name in order if name in refused})
    manifest = TrainingSetManifest(
        origin=origin,
        candidates=len(worked),
        rows={split: len(found) for split, found in rows.items()},
        refused=dict(Counter(each.stage for each in refused.values()).most_common()),
        known=dict(sorted(Counter(known.values()).items())),
        files=folder.write_files(files),
        usage=sum((each.usage for each in worked), Usage()),
        figures=dict(recipe.count_figures(worked)),
        shares=mixing.count_shares([name for found in rows.values() for name in found]),
        notices=[*notices, *splits.notices],
        near_duplicates_by=name_measure(encoder),
    )
    shown = recipe.illustrate(encoder, [row for found in rows.values() for row in found.values()], public.list_texts())
    folder.write_files(
        {
            REPORT: render_report(manifest, rows, refused, shown).encode(),
            CARD: render_card(manifest, [_flatten(name, row) for found in rows.values() for name, row in found.items()]).encode(),
            MANIFEST: manifest.model_dump_json(indent=1).encode(),
        }
    )
    return manifest


def find_public_set(public: KnownTexts, row: KeptRow, trained: Sequence[str]) -> str:
    """Return the public set that has the query of a row, or of which these fields have a text; empty where none has."""
    texts = (text for name in trained for text in _list_texts(row.data.get(name)))
    return public.find_set(row.query) or next((found for text in texts if (found := public.find_in_long(text))), "")


def _list_texts(value: Any) -> Iterator[str]:
    """Yield all texts in a value, but for messages of a conversation that are shown and not trained."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping) and value.get("trained", True):
        yield from (text for each in value.values() for text in _list_texts(each))
    elif isinstance(value, list | tuple):
        yield from (text for each in value for text in _list_texts(each))


def _refuse_row(stage: str, reason: str, row: KeptRow) -> RefusedCandidate:
    return RefusedCandidate(stage=stage, reason=reason, data={"query": row.query})


def _list_rows(rows: Mapping[str, KeptRow]) -> bytes:
    return b"".join(_line_of(_flatten(name, row)) for name, row in rows.items())


def _flatten(name: str, row: KeptRow) -> dict[str, Any]:
    """Return a row as its line has it."""
    return {"id": name, **row.model_dump(mode="json", exclude={"data", "counts", "split"}), **row.data}


def _list_refused(refused: Mapping[str, RefusedCandidate]) -> bytes:
    return b"".join(_line_of({"id": name, **each.model_dump(mode="json")}) for name, each in refused.items())


def _line_of(fields: Mapping[str, object]) -> bytes:
    return orjson.dumps(fields, option=orjson.OPT_APPEND_NEWLINE)
