"""A checker of finished graph queries. It reads the row as JSON, the texts of the corpus, and asks the product's own search.

It knows nothing of the graph: names are looked for in texts, and who else could be the answer is found by scanning all documents.
"""

import re
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from app.domain.evidence import Passage
from bench.synthesis_checker.wording import Row, check_wording, fold_text
from retrieval.language.traditional import simplify

Search = Callable[[str, int], Awaitable[Sequence[Passage]]]
Recall = Callable[[str], str]
RESULTS = 10
OPENING_CHARS = 2_000
HOPS_OF_LEVEL = {"easy": (1, 2), "medium": (1, 3), "hard": (3, 5)}
_LETTER_OR_DIGIT = re.compile(r"[^\W_]")
_CHINESE = re.compile(r"[\u3400-\u9fff\uf900-\ufaff]")
_YEAR = re.compile(r"(?<![\d.,/-])\d{4}(?![\d]|[.,]\d|s\b)")
_IS = re.compile(r"\b(?:is|was|are|were) (?:an?|the|one of the) ([^.;,()]+)")
_HEAD_ENDS = re.compile(
    r" (?:of|in|that|which|who|whose|from|for|by|on|at|to|with|and|or|\w+ed|born|known|set|made|near|where|based)\b"
)


class Text(NamedTuple):
    """A document of the corpus."""

    title: str
    text: str


@dataclass
class RowFindings:
    """What was found on a row. `unjudged` names checks that the row's conditions do not allow by texts alone."""

    violations: list[str] = field(default_factory=list)
    unjudged: list[str] = field(default_factory=list)


@dataclass
class CorpusTexts:
    """All documents by address. They are folded once, and their years and kinds are read once."""

    texts: Mapping[str, Text]

    def __post_init__(self) -> None:
        """Read all texts."""
        self.folded = {url: fold_text(text.text) for url, text in self.texts.items()}
        self.years = {url: frozenset(map(int, _YEAR.findall(text.text))) for url, text in self.texts.items()}
        self.openings = {url: _read_opening(text.text) for url, text in self.texts.items()}

    def list_naming(self, names: Sequence[str]) -> list[str]:
        """Return the addresses of the documents that have one of these names."""
        wanted = [fold_text(name) for name in names]
        return [url for url, text in self.folded.items() if any(name in text and has_name(name, text) for name in wanted)]


def recall_nothing(_: str) -> str:
    """Know no answer."""
    return ""


async def check_row(row: Row, corpus: CorpusTexts, search: Search, recall: Recall = recall_nothing) -> RowFindings:
    """Return everything that is wrong with a row. `recall` answers a question without a search, as the row's model does."""
    found = RowFindings()
    found.violations += [*check_names(row), *check_passages(row, corpus), *check_path(row), *check_labels(row)]
    found.violations += [*check_wording(row), *check_memory(row, recall)]
    found.violations += check_shortcuts(row, corpus)
    found.violations += await check_reachability(row, search)
    judge_uniqueness(row, corpus, found)
    return found


def has_name(name: str, folded: str) -> bool:
    """Say whether a folded text has a name: as whole words, or anywhere where it is of ideographs."""
    wanted, at = fold_text(name), -1
    while wanted and (at := folded.find(wanted, at + 1)) >= 0:
        if not (_touches(folded, at - 1, wanted[0]) or _touches(folded, at + len(wanted), wanted[-1])):
            return True
    return False


def _touches(folded: str, at: int, edge: str) -> bool:
    if not 0 <= at < len(folded) or _CHINESE.match(edge) or not _LETTER_OR_DIGIT.match(edge):
        return False
    return bool(_LETTER_OR_DIGIT.match(folded[at])) and not _CHINESE.match(folded[at])


def names_of(entity: Row, telling: bool = False) -> list[str]:
    """Return the names of an entity; `telling` adds the last name of a person and the parts of a foreign one."""
    name = entity["name"]
    parts = name.split("·") if "·" in name else name.split()[-1:] if entity["category"] == "person" else []
    return [name, *entity["aliases"], *(part for part in parts if telling and len(part) > 1)]


def list_entities(row: Row) -> dict[str, Row]:
    """Return all entities of a row by address."""
    return {entity["url"]: entity for entity in (*row["starts"], *row["entities"], row["answer"])}


def list_arms(row: Row) -> list[list[str]]:
    """Return the names along each arm, from its start to the answer."""
    arms: dict[int, list[str]] = {}
    for hop in row["path"]:
        arms.setdefault(hop["arm"], [hop["known"]]).append(hop["found"])
    return list(arms.values())


def entity_named(row: Row, name: str) -> Row:
    """Return the entity of a row with this name."""
    return next(entity for entity in list_entities(row).values() if entity["name"] == name)


def named_starts(row: Row) -> set[str]:
    """Return the names that the question may say."""
    return {condition["value"] for condition in row["conditions"] if condition["kind"] == "named"}


def check_names(row: Row) -> Iterator[str]:
    """Question and request name neither the answer nor anything on the way, but do name the named starts."""
    for asked in ("query", "request"):
        folded = fold_text(row[asked])
        for entity in list_entities(row).values():
            if entity["name"] in named_starts(row):
                if not has_name(entity["name"], folded):
                    yield f"{asked} leaves out the start {entity['name']}"
            elif told := [name for name in names_of(entity, telling=True) if has_name(name, folded)]:
                yield f"{asked} names {told[0]}"


def check_passages(row: Row, corpus: CorpusTexts) -> Iterator[str]:
    """Each passage stands in its document, word for word, and that of a hop is one of its two entities' and names the other."""
    for passage in [hop["stated"] for hop in row["path"]] + [c["passage"] for c in row["conditions"] if c["passage"]]:
        document = corpus.texts.get(passage["url"])
        if document is None or document.text[passage["start"] : passage["end"]] != passage["text"]:
            yield f"a passage is not in {passage['url']}"
    for hop in row["path"]:
        known, found = (entity_named(row, hop[end]) for end in ("known", "found"))
        other = {known["url"]: found, found["url"]: known}.get(hop["stated"]["url"])
        if other is None or not any(has_name(name, fold_text(hop["stated"]["text"])) for name in names_of(other)):
            yield f"the passage of {hop['known']} -> {hop['found']} does not link them"


def check_path(row: Row) -> Iterator[str]:
    """Arms are chains that share nothing but the answer, in which all end."""
    arms = list_arms(row)
    inner = [name for arm in arms for name in arm[:-1]]
    if len(set(inner)) < len(inner) or row["answer"]["name"] in inner:
        yield "arms share an entity"
    for number, names in enumerate(arms):
        hops = [hop for hop in row["path"] if hop["arm"] == number]
        if any(hop["known"] != before for hop, before in zip(hops, names, strict=False)) or names[-1] != row["answer"]["name"]:
            yield "an arm is no chain to the answer"
    spans = [(h["arm"], h["stated"]["url"], h["stated"]["start"]) for h in row["path"]]
    if any(one[0] != other[0] and one[1:] == other[1:] for one in spans for other in spans):
        yield "arms share a passage"


def check_labels(row: Row) -> Iterator[str]:
    """The counts fit the path, each condition is said, and the key entities are on the way."""
    if row["hops"] != len(row["path"]) or not 1 <= row["hops"] <= 5:
        yield "the number of hops is wrong"
    low, high = HOPS_OF_LEVEL[row["difficulty"]["level"]]
    if not low <= row["hops"] <= high:
        yield "the difficulty does not fit the hops"
    said = "".join(fold_text(row["query"]).split())
    for condition in row["conditions"]:
        phrase = "".join(fold_text(condition["phrase"]).split())
        if not phrase or phrase not in said:
            yield f"condition {condition['id']} is not said"
    on_path = {name for arm in list_arms(row) for name in arm}
    if not row["entities"] or any(entity["name"] not in on_path for entity in row["entities"]):
        yield "a key entity is not on the path"


def check_memory(row: Row, recall: Recall) -> Iterator[str]:
    """The model does not know the answer by heart."""
    said = fold_text(recall(row["query"]))
    if _names_any(names_of(row["answer"]), said):
        yield "the answer is known without a search"


def check_shortcuts(row: Row, corpus: CorpusTexts) -> Iterator[str]:
    """No document of a start or intermediate entity names the answer or the reverse, and no line of any document names both."""
    answer = row["answer"]
    own = names_of(answer)
    with_answer = corpus.list_naming(own)
    for name in [name for arm in list_arms(row) for name in arm[:-2]]:
        entity = entity_named(row, name)
        if entity["url"] in with_answer or _names_any(names_of(entity), corpus.folded[answer["url"]]):
            yield f"a document joins {name} and the answer"
        for url in with_answer:
            lines = corpus.folded[url].split("\n")
            if any(_names_any(names_of(entity), line) and _names_any(own, line) for line in lines):
                yield f"a paragraph of {url} joins {name} and the answer"


def _names_any(names: Sequence[str], folded: str) -> bool:
    return any(has_name(name, folded) for name in names)


async def check_reachability(row: Row, search: Search) -> list[str]:
    """Each search finds its passage, and says no name that is not known by then."""
    wrong: list[str] = []
    searches = iter(row["searches"])
    for number, names in enumerate(list_arms(row)):
        hops = [hop for hop in row["path"] if hop["arm"] == number]
        if names[0] not in named_starts(row):
            wrong += await _check_search(row, next(searches), names, _list_start_passages(row, names[0]), search)
        for place, hop in enumerate(hops, 1):
            wrong += await _check_search(row, next(searches), names[place:], [hop["stated"]], search)
    return wrong


def _list_start_passages(row: Row, name: str) -> list[Row]:
    url = entity_named(row, name)["url"]
    return [c["passage"] for c in row["conditions"] if c["passage"] and c["passage"]["url"] == url and c["kind"] != "linked"]


async def _check_search(row: Row, made: Row, unknown: Sequence[str], wanted: Sequence[Row], search: Search) -> list[str]:
    folded = fold_text(made["query"])
    told = [name for name in unknown if _names_any(names_of(entity_named(row, name)), folded)]
    found = await search(made["query"], RESULTS)
    if not any(_covers(passage, stated) for passage in found for stated in wanted):
        told.append("nothing that is wanted is found")
    return [f"search {made['query'][:60]!r}: {each}" for each in told]


def _covers(passage: Passage, stated: Row) -> bool:
    middle: float = (stated["start"] + stated["end"]) / 2
    return passage.source.url == str(stated["url"]) and passage.start <= middle <= passage.end


def judge_uniqueness(row: Row, corpus: CorpusTexts, found: RowFindings) -> None:
    """Look for another document that meets all conditions on the answer and is linked with the last entity of each arm."""
    own = [c for c in row["conditions"] if c["about"] == "answer" and c["kind"] not in ("linked", "named")]
    checkable = [c for c in own if c["kind"] in ("kind", "year", "place")]
    last = [entity_named(row, arm[-2]) for arm in list_arms(row)]
    before = {entity["url"] for entity in list_entities(row).values()}
    naming: dict[str, frozenset[str]] = {entity["url"]: frozenset(corpus.list_naming(names_of(entity))) for entity in last}
    for url in corpus.texts.keys() - before:
        if all(_meets(c, url, corpus) for c in checkable) and all(
            url in naming[entity["url"]] or _has_title(entity["url"], corpus.texts[url].title, corpus) for entity in last
        ):
            where = found.violations if len(checkable) == len(own) else found.unjudged
            where.append(f"{corpus.texts[url].title} may be the answer too")


def _meets(condition: Row, url: str, corpus: CorpusTexts) -> bool:
    if condition["kind"] == "year":
        return any(condition["low"] <= year <= condition["high"] for year in corpus.years[url])
    if condition["kind"] == "place":
        return has_name(condition["value"], corpus.folded[url][:OPENING_CHARS])
    return _is_of_kind(condition["value"], corpus.openings[url])


def _read_opening(text: str) -> str:
    """Return what the first sentence says that something is: up to the first preposition, or all of it in Chinese."""
    if _CHINESE.search(text[:40]):
        return simplify(text[:300])
    said = _IS.search(text[:500])
    return _HEAD_ENDS.split(said.group(1))[0].lower() if said else ""


def _is_of_kind(kind: str, opening: str) -> bool:
    """Say whether an opening ends with a kind, or has it at the end of a Chinese clause."""
    if _CHINESE.match(kind):
        return re.search(rf"[是为乃][^，。]*{re.escape(kind)}[，。；、（(]", opening) is not None
    return opening.split()[-1:] == [kind]


def _has_title(url: str, title: str, corpus: CorpusTexts) -> bool:
    """Say whether a document has a title, as it is written."""
    bare = re.sub(r"\s*[(（].*", "", title)
    return bare in corpus.texts[url].text and has_name(bare, corpus.folded[url])
