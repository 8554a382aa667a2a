"""From a collection's kind and path to its corpus."""

from pathlib import Path

from retrieval.catalogue import Collection, CorpusKind
from retrieval.corpora.ports import Corpus


def open_corpus(collection: Collection) -> Corpus:
    """The corpus a collection is read from; readers are imported when they are needed."""
    match collection.kind:
        case CorpusKind.SOTU:
            from retrieval.corpora.sotu import StateOfTheUnion

            return StateOfTheUnion()
        case CorpusKind.FOLDER:
            from retrieval.corpora.documents import Folder

            return Folder(Path(collection.path))
        case CorpusKind.BEIR:
            from retrieval.corpora.beir import BeirCorpus

            return BeirCorpus(Path(collection.path), collection.name)
