"""Claims that were written by hand over passages of the data sets, by writers who had seen no rule of the grader.

Half of them are honest, and half of those really worded anew. Of the `balanced_*` halves, every passage has an honest and a false
claim close to it, and as many in other words. A row names its passage; its text is read from the data set.
"""

from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path

from bench.claim_pairs.pairs import ClaimPair
from bench.labelled_sets import DATA, read_lines
from retrieval.language.sentences import list_sentences

CLAIMS = Path(__file__).parent / "labels" / "claims"
IDENTITIES = ("_id", "id")


def read_written_claims(half: str) -> dict[str, list[ClaimPair]]:
    """Read the pairs of a half, by the document of their passage; nothing where the data sets are not at hand."""
    if not DATA.is_dir():
        return {}
    rows = list(read_lines(CLAIMS / f"{half}.jsonl"))
    wanted: dict[str, set[str]] = defaultdict(set)
    for row in rows:
        wanted[row["corpus"]].add(row["id"])
    texts = {corpus: read_named_texts(DATA / corpus, ids) for corpus, ids in wanted.items()}
    pairs: dict[str, list[ClaimPair]] = defaultdict(list)
    for row in rows:
        title, text = texts[row["corpus"]][row["id"]]
        evidence = tuple(list_sentences(" ".join(text[row["start"] : row["end"]].split())))
        # Passages of one article share its number: 12_0, 12_1.
        document = f"{Path(row['corpus']).parts[0]}/{row['id'].partition('_')[0]}"
        pairs[document].append(ClaimPair(title, evidence, row["claim"], row["kind"], row["right"]))
    return pairs


def read_named_texts(corpus: Path, wanted: set[str]) -> Mapping[str, tuple[str, str]]:
    """Return title and text of some documents."""
    found = {}
    for record in read_lines(corpus):
        identity = str(next(record[name] for name in IDENTITIES if name in record))
        if identity in wanted:
            found[identity] = (record["title"], record["text"])
    return found
