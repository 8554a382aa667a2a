"""A small corpus in two languages with the product's own index, and models that make evidence trees of it."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from app.domain.chat import ChatRequest
from app.domain.evidence_rubric import Variant
from app.domain.query import Language
from bench.synthesis_checker.trees import check_tree_row
from bench.synthesis_stub.trees import TreeStub
from retrieval.search.in_process import open_local
from retrieval.store.catalogue import Collection, CorpusKind
from tests.workflows.agent_kit import PROMPTS, TODAY
from training.synthesis.evidence_trees.making import TreeKits
from training.synthesis.evidence_trees.set_recipe import make_recipe
from training.synthesis.source_corpus import SourceCorpus
from training.synthesis.training_set.making import SetMaking
from training.synthesis.training_set.outcome import WorkedCandidate
from workflows.agents.codec import SchemaCodec
from workflows.agents.kit import Kit
from workflows.agents.ports import Record
from workflows.chat_models.scripted import ScriptedAnswer, ScriptedModel
from workflows.judging.batch_record import AnswerStore, BatchRecord
from workflows.systems.linear_pipeline import Window

TEXTS = {
    "Erie Canal": (
        "The Erie Canal joins the Hudson River at Albany to Lake Erie at Buffalo. Work on it began at Rome in 1817, and it was "
        "opened in October 1825 by Governor DeWitt Clinton. The canal cost about 7 million dollars, which tolls had repaid by "
        "1836. Thousands of Irish labourers dug the channel by hand through the Montezuma swamps. Malaria killed about a "
        "thousand of these labourers during the summer of 1819 near Syracuse. Merchants of New York praised the canal, because "
        "freight from Buffalo fell from 100 dollars a ton to about 10 dollars. Railways such as the New York Central took over "
        "passengers after 1842 and most freight after 1880. Engineers such as Benjamin Wright and Canvass White learned their "
        "trade while they built the locks. Compared with the Champlain Canal, the Erie Canal carried ten times the freight."
    ),
    "Champlain Canal": (
        "The Champlain Canal connects Lake Champlain with the Hudson River near Waterford. Its builders finished the canal in "
        "1823, two years before the Erie Canal was opened. The canal carried timber and marble from Vermont to the markets of "
        "New York. Engineers such as Benjamin Wright surveyed the route, and Canvass White designed several of its locks. Floods "
        "of the Hudson River destroyed the dam at Fort Edward more than once. Freight on the canal reached about 300 thousand "
        "tons in 1850, far less than on the Erie Canal. Railways along Lake Champlain took most of the marble after 1875. "
        "Governor DeWitt Clinton defended the cost of the canal before the legislature at Albany."
    ),
    "Suez Canal": (
        "The Suez Canal joins the Mediterranean at Port Said to the Red Sea at Suez. Ferdinand de Lesseps founded the company "
        "that dug it, and the canal was opened in November 1869. Forced labourers of Egypt dug the first channel until Ismail "
        "Pasha ended their service in 1864. Cholera killed many of these labourers near Ismailia during the summer of 1865. The "
        "canal cost about 433 million francs, twice what Ferdinand de Lesseps had promised to the company. Britain bought the "
        "shares of Ismail Pasha in 1875 for about 4 million pounds. The passage from London to Bombay became about 7 thousand "
        "kilometres shorter. Compared with the Panama Canal, the Suez Canal needs no locks, because both seas have one level."
    ),
    "Panama Canal": (
        "The Panama Canal joins the Atlantic at Colon to the Pacific at Balboa. Ferdinand de Lesseps began the work in 1881, and "
        "his company failed in 1889. Yellow fever and malaria killed about 20 thousand labourers during the French attempt near "
        "Gatun. William Gorgas later fought the mosquitoes, and deaths among labourers fell sharply. Engineers of the United "
        "States such as John Stevens chose locks instead of a channel at sea level. The canal was opened in August 1914 at a "
        "cost of about 375 million dollars. Compared with the Suez Canal, the Panama Canal lifts ships 26 metres above the sea. "
        "Droughts around Gatun Lake limited the number of ships during the year 2023."
    ),
    "Locks": (
        "Locks lift ships from one level of a canal to another one. Engineers of the Netherlands built locks with two gates near "
        "Vreeswijk in 1373. Canvass White found natural cement near Syracuse, which made the locks of the Erie Canal durable. "
        "The locks of the Panama Canal at Gatun lift ships 26 metres in three steps. Leaking gates were a frequent failure "
        "of locks on the Champlain Canal at Waterford. Compared with inclined planes, locks need more water but less machinery. "
        "About 35 locks remain on the Erie Canal between Albany and Buffalo. Labourers closed the gates by hand until electric "
        "machinery came to the locks at Lockport in 1918."
    ),
    "京杭大运河": (
        "京杭大运河北起北京，南到杭州，全长约1794公里。"
        "隋炀帝在605年下令开凿通济渠，数百万民工参加了工程。"
        "元朝的郭守敬在1293年主持修建通惠河，使漕船可以直达大都。"
        "明朝的宋礼在1411年疏浚会通河，恢复了南北漕运。黄河多次决口，淤塞了山东境内的河道，漕运因此中断。"
        "清朝后期，铁路和海运逐渐取代了漕运，运河的货运量大幅下降。"
        "与灵渠相比，京杭大运河的长度约为灵渠的50倍。"
        "2014年，京杭大运河被列入世界遗产名录，沿岸城市开始保护古老的船闸。"
        "扬州和苏州等城市因漕运而繁荣，商人在此经营盐业和丝绸。"
    ),
    "灵渠": (
        "灵渠位于广西兴安县，连接湘江和漓江，全长约36公里。"
        "秦始皇在公元前214年命令史禄开凿灵渠，用来运送军粮。"
        "灵渠的陡门是世界上较早的船闸，船只可以逐级升降。唐朝的李渤在825年重修灵渠，增建了多座陡门。"
        "洪水多次冲毁灵渠的堤坝，民工不得不反复修补。"
        "与京杭大运河相比，灵渠的规模很小，但是开凿的时间更早。清朝的文献记载灵渠共有陡门32座。"
        "湘桂铁路在1938年通车以后，灵渠的货运基本停止，灌溉成为主要用途。"
    ),
    "郭守敬": (
        "郭守敬是元朝的天文学家和水利专家，1231年生于邢台。"
        "郭守敬在1293年主持修建通惠河，连接大都和通州的漕运。"
        "通惠河设有船闸24座，漕船可以逐级上升到积水潭。"
        "与前人的方案相比，郭守敬引用白浮泉的泉水，解决了水源不足的问题。"
        "明朝时期白浮泉的水道荒废，通惠河的漕运因此受到影响。郭守敬编制的授时历推算一年为365.2425天。"
        "他在各地设立了27处观测站，测量的范围很广。民工约285万人次参加了通惠河的工程，耗资很大。"
    ),
}


@contextmanager
def open_corpus(folder: Path) -> Iterator[SourceCorpus]:
    """Open the texts as a collection that is searched by words."""
    (folder / "texts").mkdir(parents=True)
    lines = [{"id": str(number), "title": title, "text": text} for number, (title, text) in enumerate(TEXTS.items())]
    path = folder / "texts" / "corpus.jsonl"
    path.write_text("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines), encoding="utf-8")
    with open_local(folder / "home", Collection(name="canals", kind=CorpusKind.RECORDS, path=str(path))) as local:
        yield SourceCorpus(local, "canals")


@dataclass
class ListJournal:
    """A journal in memory."""

    lines: list[WorkedCandidate] = field(default_factory=list)

    def read_worked(self) -> Sequence[WorkedCandidate]:
        return list(self.lines)

    def keep_worked(self, worked: WorkedCandidate) -> None:
        self.lines.append(worked)


Model = Callable[[ChatRequest], ScriptedAnswer]


SMALL = TreeStub(widest=2)
"""An obedient model whose trees have two children a node."""


def change_step(step: str, change: Callable[[dict[str, Any]], Any], obedient: TreeStub = SMALL) -> Model:
    """Return a model that obeys, but changes its answers to one step."""

    def answer(request: ChatRequest) -> ScriptedAnswer:
        said = obedient(request)
        if request.response_schema is None or request.response_schema.name != step:
            return said
        changed = change(json.loads(said))
        return changed if isinstance(changed, Exception) else json.dumps(changed, ensure_ascii=False)

    return answer


def open_kit(model: ScriptedModel, record: Record, language: Language) -> Kit:
    return Kit(model, {}, record, PROMPTS, SchemaCodec(), TODAY, lambda: 0.0, language=language)


@dataclass
class Forest:
    """The making of trees over the small corpus, with what was asked of each model."""

    corpus: SourceCorpus
    writer: ScriptedModel
    verifier: ScriptedModel
    window: Window = field(default_factory=lambda: Window(1, 1))
    journal: ListJournal = field(default_factory=ListJournal)
    record: BatchRecord = field(default_factory=lambda: BatchRecord(AnswerStore(), 8, attempts=1))

    async def make(
        self, wanted: int = 9, language: Language | None = None, variants: frozenset[Variant] = frozenset()
    ) -> list[WorkedCandidate]:
        kits = TreeKits(partial(open_kit, self.writer), partial(open_kit, self.verifier))
        recipe = make_recipe([self.corpus], kits, 1, language, variants)
        return await SetMaking(recipe.make_row, self.record, self.journal, wanted, self.window).work(recipe.candidates)

    def check(self, worked: Sequence[WorkedCandidate]) -> list[str]:
        """Return the faults that the independent checker finds in the kept rows."""
        return check_rows(self.corpus, [one.kept.model_dump(mode="json") | one.kept.data for one in worked if one.kept])


def check_rows(corpus: SourceCorpus, rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the faults that the independent checker finds in rows of a set."""
    sources = {document.source.url: document.source for document in corpus.list_documents()}

    def read_text(address: str) -> str:
        return corpus.read_text(sources[address]) if address in sources else ""

    return [fault for row in rows for fault in check_tree_row(row, read_text)]


def plant_forest(corpus: SourceCorpus, writer: Model | None = None, verifier: Model | None = None) -> Forest:
    """Return a forest of these models; obedient ones where none are given."""
    return Forest(corpus, ScriptedModel(writer or SMALL), ScriptedModel(verifier or SMALL))
