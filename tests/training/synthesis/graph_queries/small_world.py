"""A small invented world in English and Chinese, indexed by words, with everything that makes graph queries of it."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date
from pathlib import Path

from app.domain.chat import ChatRequest
from app.domain.query import Language
from bench.synthesis_checker.graph_queries import CorpusTexts, Text
from bench.synthesis_stub.graph_queries import GraphQueryStub
from retrieval.search.in_process import open_local
from retrieval.store.catalogue import Collection, CorpusKind
from training.synthesis.graph_queries.making import GraphCandidate, GraphKits, GraphQueries, OpenKit, make_graph_queries
from training.synthesis.source_corpus import SourceCorpus
from training.synthesis.training_set.making import SetMaking
from training.synthesis.training_set.outcome import WorkedCandidate
from workflows.agents.codec import SchemaCodec
from workflows.agents.kit import Kit
from workflows.agents.ports import Record
from workflows.chat_models.scripted import ScriptedModel
from workflows.judging.batch_record import AnswerStore, BatchRecord
from workflows.prompts.library import PromptLibrary
from workflows.systems.linear_pipeline import Window

NAME = "world"
COUNT = 14
PROMPTS = PromptLibrary.load()
FIRST_TEN = (
    "Orla",
    "Tamsin",
    "Berwin",
    "Calder",
    "Ilse",
    "Jorun",
    "Kester",
    "Linnea",
    "Merek",
    "Nola",
    "Osric",
    "Petra",
    "Quill",
    "Rhona",
)
FIRST = (*FIRST_TEN, "Osric", "Petra", "Quill", "Rhona")
LAST_TEN = ("Vennet", "Ashgrove", "Dunmorrow", "Fellbright", "Garrowby", "Hexley", "Inskip", "Jarvold", "Kettling", "Lorimond")
LAST = (*LAST_TEN, "Marwick", "Norbury", "Ostler", "Pellam")
SUR_ZH, GIVEN_ZH = "林沈韩谢罗梁宋郑唐冯邓曹彭曾", ("雨桐", "墨言", "知秋", "怀瑾", "若水", "清扬", "子衿")
PLACE_ZH = ("青禾", "白鹭", "云溪", "松岭", "月泉", "石桥", "霜叶", "竹海", "鹿鸣", "梅渡", "柳湾", "雁回", "榆关", "兰亭")


def list_records() -> list[dict[str, str]]:
    """Return the documents: poets, novels, rivers and towns that speak of one another."""
    return [record for n in range(COUNT) for record in (*_describe_english(n), *_describe_chinese(n))]


def _describe_english(n: int) -> Iterator[dict[str, str]]:
    poet, town, river = f"{FIRST[n]} {LAST[n]}", f"{LAST[n]}holm Cross", f"{FIRST[-1 - n]}mere Water"
    novel = f"The Lantern of {FIRST[(n + 5) % COUNT]}wick"
    next_town, next_river = f"{LAST[(n * 3 + 1) % COUNT]}holm Cross", f"{FIRST[-1 - (n + 4) % COUNT]}mere Water"
    other = f"{FIRST[(n + 6) % COUNT]} {LAST[(n + 6) % COUNT]}"
    craft = ("weaving of blue sails", "carving of oak masts", "baking of rye loaves", "casting of copper bells")[n % 4]
    yield _make_record(
        f"poet{n}",
        poet,
        f"{poet} is a poet who was born in 18{10 + n}.\n{poet} spent a childhood at {next_town} among the {craft}.\n"
        f"The best known book of those years is {novel}.",
    )
    yield _make_record(
        f"novel{n}",
        novel,
        f"{novel} is a novel printed in 18{40 + n * 2}.\nA ferryman drowns in {next_river} at its end, singing of {craft}.\n"
        f"Its first reader was {other}, who praised chapter {n + 2}.",
    )
    yield _make_record(
        f"river{n}",
        river,
        f"{river} is a river with {3 + n} old bridges.\nThe mills of {town} stand along {river}, famous for the {craft}.\n"
        f"It flooded in 17{20 + n * 3}.",
    )
    yield _make_record(
        f"town{n}",
        town,
        f"{town} is a town with a market since 15{11 + n * 4}.\nPeople there live by the {craft}.\n"
        "Its tower burnt down twice and was rebuilt by the guild.",
    )


def _describe_chinese(n: int) -> Iterator[dict[str, str]]:
    poet, town = f"{SUR_ZH[n]}{GIVEN_ZH[n % 7]}", f"{PLACE_ZH[n]}古镇"
    novel, river = f"{PLACE_ZH[(n + 3) % COUNT]}夜话", f"{PLACE_ZH[(n + 8) % COUNT]}大河"
    craft = ("织造蓝帆", "雕刻橡木", "烘焙麦饼", "铸造铜钟")[n % 4]
    yield _make_record(
        f"zp{n}",
        poet,
        f"{poet}是清代的一位诗人，生于18{10 + n}年。\n{poet}幼年住在{PLACE_ZH[(n * 3 + 1) % COUNT]}古镇，看人{craft}度日。\n"
        f"其代表著述名为{novel}，流传甚广。",
    )
    yield _make_record(
        f"zn{n}",
        novel,
        f"{novel}是一部小说，18{40 + n * 2}年刊行。\n末章写船夫在{PLACE_ZH[(n + 5) % COUNT]}大河溺亡，临终还唱着{craft}的歌谣。\n"
        f"最早的读者是{SUR_ZH[(n + 6) % COUNT]}{GIVEN_ZH[(n + 6) % COUNT % 7]}，曾为它题写跋语。",
    )
    yield _make_record(
        f"zr{n}",
        river,
        f"{river}是一条河流，有古桥{3 + n}座。\n沿岸的磨坊属于{town}，以{craft}闻名。\n17{20 + n * 3}年曾经泛滥。",
    )
    yield _make_record(
        f"zt{n}",
        town,
        f"{town}是江南的一座镇，15{11 + n * 4}年设立集市。\n居民以{craft}为生。\n塔楼两次焚毁，由行会重修。",
    )


def _make_record(identity: str, title: str, text: str) -> dict[str, str]:
    return {"_id": identity, "doc_id": identity, "title": title, "url": f"world:{identity}", "text": text}


@contextmanager
def open_world(home: Path, records: list[dict[str, str]] | None = None) -> Iterator[SourceCorpus]:
    """Index the world's documents, and open them."""
    path = home / "corpus.jsonl"
    home.mkdir(parents=True, exist_ok=True)
    lines = [json.dumps(record, ensure_ascii=False) for record in records or list_records()]
    path.write_text("\n".join(lines), encoding="utf-8")
    with open_local(home / "home", Collection(name=NAME, kind=CorpusKind.RECORDS, path=str(path))) as local:
        yield SourceCorpus(local, NAME)


def open_queries(corpus: SourceCorpus, folder: Path, stub: GraphQueryStub, judge: GraphQueryStub | None = None) -> GraphQueries:
    """Open graph queries that the stub writes, and judges where there is no other judge."""

    def serve(served: GraphQueryStub) -> OpenKit:
        def say(request: ChatRequest) -> str:
            return served.answer("\n".join(message.content for message in request.messages)) or "{}"

        def open_kit(record: Record, language: Language) -> Kit:
            return Kit(model, {}, record, PROMPTS, SchemaCodec(), date(2026, 1, 1), lambda: 0.0, language=language)

        model = ScriptedModel(say)
        return open_kit

    return make_graph_queries(corpus, GraphKits(serve(stub), serve(judge or stub)), 3, folder)


class MemoryJournal:
    """A journal in memory."""

    def __init__(self) -> None:
        self.lines: list[WorkedCandidate] = []

    def read_worked(self) -> list[WorkedCandidate]:
        return self.lines

    def keep_worked(self, worked: WorkedCandidate) -> None:
        self.lines.append(worked)


async def work(queries: GraphQueries, candidates: list[GraphCandidate]) -> list[WorkedCandidate]:
    """Work all candidates."""
    record = BatchRecord(AnswerStore(), 4)
    return await SetMaking(queries.make_row, record, MemoryJournal(), len(candidates), Window(4)).work(candidates)


def read_texts(corpus: SourceCorpus) -> CorpusTexts:
    """Read the corpus for the checker."""
    documents = list(corpus.list_documents())
    return CorpusTexts({found.source.url: Text(found.source.title, corpus.read_text(found.source)) for found in documents})
