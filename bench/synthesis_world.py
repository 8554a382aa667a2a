"""The corpora of the benches of training sets: English and Chinese Wikipedia, indexed by words."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date
from pathlib import Path

from app.domain.chat import ChatRequest
from bench.labelled_sets import DATA
from retrieval.search.in_process import open_local
from retrieval.store.catalogue import Collection, CorpusKind
from training.evaluation.harness.manifest import ModelUsed
from training.evaluation.harness.models import RunModels, ServedModel
from training.synthesis.set_request import SetRequest
from training.synthesis.source_corpus import SourceCorpus
from training.synthesis.workshop import Workshop
from workflows.agents.codec import SchemaCodec
from workflows.chat_models.scripted import AnswerScript, ScriptedModel
from workflows.prompts.library import PromptLibrary

HOME = Path(".rubrica") / "bench-synthesis"
CORPORA = {"wiki_en": "wiki_en/passages.jsonl.gz", "wiki_zh": "wiki_zh/articles.jsonl.gz"}
TODAY = date(2026, 1, 1)


@contextmanager
def open_wikipedias(home: Path) -> Iterator[dict[str, SourceCorpus]]:
    """Open the corpora by name; index those that are missing in the home first, which takes a minute."""
    collections = [Collection(name=name, kind=CorpusKind.RECORDS, path=str(DATA / path)) for name, path in CORPORA.items()]
    with open_local(home, *collections) as local:
        yield {name: SourceCorpus(local, name) for name in CORPORA}


def furnish_workshop(request: SetRequest, corpora: list[SourceCorpus], script: AnswerScript) -> Workshop:
    """Return a workshop whose models answer from a script."""
    served = ServedModel(ScriptedModel(script), ModelUsed(name="stub", codec="schema"))
    return Workshop(request, corpora, RunModels(served, served), PromptLibrary.load(), SchemaCodec(), TODAY)


def join_messages(request: ChatRequest) -> str:
    """Return all texts of a request."""
    return "\n".join(message.content for message in request.messages)
