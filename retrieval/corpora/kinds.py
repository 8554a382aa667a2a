"""The corpus of a collection, by its kind and path."""

from dataclasses import replace
from pathlib import Path

from app.domain.errors import InvalidInput
from retrieval.corpora.ports import Corpus
from retrieval.store.catalogue import Collection, CorpusKind


def open_corpus(collection: Collection) -> Corpus:
    """Open the corpus of a collection; its reader is imported at the first use.

    Raises:
        InvalidInput: there is nothing of this kind at its path.
    """
    path = Path(collection.path)
    match collection.kind:
        case CorpusKind.SOTU:
            from retrieval.corpora.sotu import StateOfTheUnion

            return StateOfTheUnion()
        case CorpusKind.FOLDER:
            from retrieval.corpora.documents import FolderCorpus

            return FolderCorpus(path)
        case CorpusKind.UPLOADS:
            from retrieval.corpora.uploads import UploadCorpus

            return UploadCorpus(path)
        case CorpusKind.WIKIPEDIA:
            from retrieval.corpora.wikipedia import WikipediaDump

            return WikipediaDump(path, collection.licence)
    return _open_records(collection, path)


def _open_records(collection: Collection, path: Path) -> Corpus:
    from retrieval.corpora import record_kinds
    from retrieval.corpora.records import RecordCorpus

    match collection.kind:
        case CorpusKind.BEIR:
            path, kind = _find_beir_file(path), record_kinds.BEIR
        case CorpusKind.WIKIPEDIA_PASSAGES:
            kind = record_kinds.WIKIPEDIA_PASSAGES
        case CorpusKind.PAPERS:
            kind = record_kinds.PAPERS
        case _:
            kind = record_kinds.RECORDS
    return RecordCorpus(path, collection.name, replace(kind, licence=collection.licence or kind.licence))


def _find_beir_file(path: Path) -> Path:
    for candidate in (path, path / "corpus.jsonl", path / "corpus.jsonl.gz"):
        if candidate.is_file():
            return candidate
    raise InvalidInput(f"there is no corpus.jsonl or corpus.jsonl.gz at {path.name!r}")
