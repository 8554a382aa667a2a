"""Questions over documents of the data sets that were gathered in folders by their subject: encyclopedia articles and abstracts.

Of each 16 to 22 questions on a folder some seven have no answer there; most of these ask for something that the folder leaves out
of a subject that it treats. Rows and folders name documents and places in them; the texts are read from the data sets.
"""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from bench.brief_questions import LABELS, BriefQuestion
from bench.labelled_sets import DATA, read_lines
from bench.written_claims import read_named_texts


def load_gathered(half: str, home: Path) -> dict[str, list[BriefQuestion]]:
    """Read one half of the questions, as a set in English and one in Chinese, and write their folders below `home`."""
    rows = [row for row in read_lines(LABELS / "gathered.jsonl") if row["half"] == half]
    folders = json.loads((LABELS / "gathered_folders.json").read_text(encoding="utf-8"))
    texts = {name: dict(_write_folder(home / name, folders[name])) for name in {row["folder"] for row in rows}}
    sets: dict[str, list[BriefQuestion]] = {"articles": [], "articles_zh": []}
    for row in rows:
        gold = tuple(texts[row["folder"]][g["id"]][g["start"] : g["end"]] for g in row["gold"])
        name = "articles_zh" if row["folder"].startswith("zh-") else "articles"
        sets[name].append(BriefQuestion(row["question"], home / row["folder"], gold))
    return sets


def _write_folder(folder: Path, named: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Write each document as a file with its title first; yield ids and texts."""
    folder.mkdir(parents=True, exist_ok=True)
    for identity, (title, text) in read_named_texts(DATA / named["corpus"], set(named["ids"])).items():
        file = folder / f"{identity}.txt"
        if not file.exists():  # a kept home knows its folder by the times of its files
            file.write_text(f"{title}\n\n{text}", encoding="utf-8")
        yield identity, text
