"""Falsehoods and honest paraphrases that the generator makes of plain texts."""

import json
from pathlib import Path

from app.domain.query import Language
from bench.claim_pairs.falsehoods import FALSEHOODS
from bench.claim_pairs.generate import generate_pairs, read_source
from bench.claim_pairs.pairs import BUILD, JUDGE, half_of, read_pairs, write_pairs
from bench.claim_pairs.paraphrases import PARAPHRASES

ENGLISH = (
    "In 1890, John Smith was the first governor of the province, and he may have written most of its laws in Boston. "
    "The second dam (built of stone) was opened in March 1904 by Mary Jones because of floods along the river. "
    "Exports increased from 2,300 tons to 45 percent more, which surprised the merchants. "
)
CHINESE = "1890年3月，张伟在南京担任第一任校长，他可能撰写了许多教材。学校有3个系，占地12公里，洪水导致道路中断。"
TEXTS = [
    piece
    for number in range(60)
    for words in (ENGLISH, CHINESE)
    for piece in read_source(f"Title {number}", words.replace("Boston", f"Boston{chr(97 + number % 26)}"), str(number))
]


def test_pairs_are_made_in_both_languages_and_of_many_kinds() -> None:
    pairs = generate_pairs(TEXTS, each=4)
    kinds = {pair.kind for pair in pairs}
    assert {pair.language for pair in pairs} == {*Language}
    assert len(kinds & FALSEHOODS.keys()) > 8
    assert len(kinds & PARAPHRASES.keys()) > 3


def test_a_false_claim_says_what_its_evidence_does_not() -> None:
    false = [pair for pair in generate_pairs(TEXTS, each=4) if not pair.right]
    assert all(pair.claim not in " ".join(pair.evidence) for pair in false)
    assert all(pair.kind in FALSEHOODS for pair in false)


def test_a_quotation_is_put_into_the_mouth_of_somebody_of_another_text() -> None:
    texts = [
        piece
        for number, name in enumerate(("John Smith", "Peter Brown", "Mary Jones", "Anna White", "Carl Green", "Rose Hill") * 20)
        for piece in read_source(
            f"Title {number}", f"In 1890 the governor {name} opened the old dam along the river.", str(number)
        )
    ]
    quoted = [pair for pair in generate_pairs(texts, each=5) if pair.kind == "misattributed_quote"]
    assert quoted
    assert not any(pair.right or pair.claim.partition(" said: ")[0] in " ".join(pair.evidence) for pair in quoted)


def test_the_same_texts_give_the_same_pairs() -> None:
    assert generate_pairs(TEXTS, each=3) == generate_pairs(TEXTS, each=3)


def test_both_halves_get_documents_and_none_gets_both() -> None:
    halves = [half_of(str(number)) for number in range(200)]
    assert 60 < halves.count(BUILD) < 140
    assert {*halves} == {BUILD, JUDGE}


def test_pairs_are_read_as_they_were_written(tmp_path: Path) -> None:
    pairs = generate_pairs(TEXTS, each=2)
    write_pairs(pairs, tmp_path / "pairs.jsonl")
    read = list(read_pairs(tmp_path / "pairs.jsonl"))
    assert [(pair.claim, pair.kind, pair.right) for pair in read] == [(pair.claim, pair.kind, pair.right) for pair in pairs]
    row = {"title": "T", "evidence": ["One.", "Two."], "claim": "C.", "kind": "k", "right": True}
    (tmp_path / "given.jsonl").write_text(json.dumps(row))
    assert next(read_pairs(tmp_path / "given.jsonl")).evidence == ("One.", "Two.")
