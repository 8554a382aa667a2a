"""`python -m bench.leakage`: what the check of training sets finds of public sets' texts that were planted among 5,000 rows.

Planted are each text inside a request (a copy), and each text with one word in five replaced by another word of the corpora (a
paraphrase; of Chinese, one pair of ideographs in five). The other rows are questions and sentences about articles of Wikipedia.
The sets are in two halves: `--half build` are those on which the check was built. `--embedding` also prints what the product's
encoder finds at several least likenesses, by the cosine to the nearest text; `--changed` replaces another share of the words.
"""

import argparse
import gzip
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from random import Random
from typing import NamedTuple

import numpy as np

from app.domain.query import Language, detect_language
from app.settings import Settings
from bench.labelled_sets import DATA
from bench.result import print_result, print_skipped
from training.decontamination.known_texts import KnownTexts
from training.decontamination.public_sets import read_questions
from training.evaluation.harness.world import open_own_encoder

HALVES = {
    "build": {"scifact": "scifact/queries.jsonl.gz", "multi-hop": "multihop/queries.jsonl"},
    "judge": {"frames": "wiki_en/frames_queries.jsonl", "deepresearch-bench": "drb/query.jsonl", "scholarqa": "scholarqa"},
}
ROWS = 5_000
ARTICLES = 3_000
CHANGED = 0.2
COSINES = (0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95)
REQUESTS = {
    Language.ENGLISH: "I need this for a briefing next week, with sources: {}",
    Language.CHINESE: "请为下周的汇报准备一份带来源的说明：{}",
}
QUESTIONS = {
    Language.ENGLISH: (
        "How did {} change over time, and why?",
        "What do we know about the causes of {}?",
        "Compare {} with what came before it.",
        "Which evidence supports what is said about {}?",
        "What are the risks and the costs of {}, and who bears them?",
        "What is the name of the person who is best known for {}?",
    ),
    Language.CHINESE: ("{}是如何随时间变化的，原因是什么？", "请比较{}与其替代方案。", "{}有哪些风险和成本，由谁承担？"),
}
CORPORA = {Language.ENGLISH: "wiki_en/passages.jsonl.gz", Language.CHINESE: "wiki_zh/articles.jsonl.gz"}
WORD = {Language.ENGLISH: re.compile(r"\S+"), Language.CHINESE: re.compile(r"[\u4e00-\u9fff]{2}")}
Articles = Mapping[Language, Sequence[tuple[str, str]]]


def main() -> None:
    """Plant, search, count and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--half", choices=list(HALVES), default="judge")
    parser.add_argument("--changed", type=float, default=CHANGED, help="the share of a paraphrase's words that are replaced")
    parser.add_argument("--embedding", action="store_true", help="print what the encoder finds, too")
    options = parser.parse_args()
    if not DATA.is_dir():
        return print_skipped("leakage", f"there are no public sets in {DATA}")
    sets = {name: list(read_questions(name, _find_file(path))) for name, path in HALVES[options.half].items()}
    planted = plant_texts(sets, Random(1), options.changed)
    if options.embedding:
        print_embedding(planted)
    return print_result("leakage", measure(sets, planted))


class PlantedRows(NamedTuple):
    """The public texts, their copies and paraphrases, and the other rows."""

    texts: Sequence[str]
    copies: Sequence[str]
    paraphrases: Sequence[str]
    others: Sequence[str]


def plant_texts(sets: Mapping[str, Sequence[str]], draw: Random, changed: float) -> PlantedRows:
    """Make the rows."""
    articles = {language: list(islice(read_articles(name), ARTICLES)) for language, name in CORPORA.items()}
    texts = [text for own in sets.values() for text in own]
    copies = [REQUESTS[detect_language(text)].format(text) for text in texts]
    paraphrases = [replace_words(text, articles, draw, changed) for text in texts]
    return PlantedRows(
        texts, copies, paraphrases, [make_row(articles, draw) for _ in range(ROWS - len(copies) - len(paraphrases))]
    )


def measure(sets: Mapping[str, Sequence[str]], planted: PlantedRows) -> dict[str, float]:
    """Return the shares of copies and paraphrases that are found, and of other rows that are said to be known."""
    known = KnownTexts()
    for name, texts in sets.items():
        known.add(name, texts)
    for text in [row for row in planted.others if known.find_set(row)][:20]:
        print(f"said to be known: {text}")
    for text in [row for row in planted.paraphrases if not known.find_set(row)][:20]:
        print(f"not found: {text}")
    return {
        "copies_found": _share_known(known, planted.copies),
        "paraphrases_found": _share_known(known, planted.paraphrases),
        "false_alarms": _share_known(known, planted.others),
    }


def print_embedding(planted: PlantedRows) -> None:
    """Print what the encoder finds at each least cosine, for English rows: it knows no Chinese."""
    encoder = open_own_encoder(Settings())
    texts, *rows = ([text for text in own if detect_language(text) is Language.ENGLISH] for own in planted)
    known = encoder.encode_passages(texts)
    nearest = [np.max(encoder.encode_passages(own) @ known.T, axis=1) for own in rows]
    for least in COSINES:
        copies, paraphrases, others = (float(np.mean(found >= least)) for found in nearest)
        print(f"cosine {least}: copies {copies:.4f}, paraphrases {paraphrases:.4f}, false alarms {others:.4f}", flush=True)


def read_articles(name: str) -> Iterator[tuple[str, str]]:
    """Yield titles and texts."""
    with gzip.open(DATA / name, "rt", encoding="utf-8") as lines:
        for line in lines:
            row = json.loads(line)
            yield row["title"], row["text"]


def replace_words(text: str, articles: Articles, draw: Random, changed: float) -> str:
    """Return the text with a share of its words replaced by words of some articles in its language."""
    language = detect_language(text)
    places = list(WORD[language].finditer(text))
    for place in sorted(draw.sample(places, round(changed * len(places))), key=lambda place: -place.start()):
        text = text[: place.start()] + _draw_word(language, articles, draw) + text[place.end() :]
    return text


def make_row(articles: Articles, draw: Random) -> str:
    """Return a question about an article, or one of its sentences."""
    language = draw.choice(list(Language))
    title, text = draw.choice(articles[language])
    if draw.random() < 0.5:
        return draw.choice(QUESTIONS[language]).format(title)
    return draw.choice([sentence for sentence in re.split(r"(?<=[.。])\s*", text[:2_000]) if len(sentence) > 20] or [text[:200]])


def _draw_word(language: Language, articles: Articles, draw: Random) -> str:
    while not (found := WORD[language].findall(draw.choice(articles[language])[1])):
        pass
    return str(draw.choice(found))


def _share_known(known: KnownTexts, texts: Sequence[str]) -> float:
    return sum(bool(known.find_set(text)) for text in texts) / len(texts)


def _find_file(name: str) -> Path:
    path = DATA / name
    return path if path.exists() or not name.endswith(".gz") else path.with_suffix("")


if __name__ == "__main__":
    main()
