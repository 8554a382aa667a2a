"""The search of a run: a retrieval service, or the home's indexes opened here, and the configured services outside."""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass

from app.domain.errors import SetupError
from app.settings import Settings
from retrieval.encoding.encoder import Encoder, EncoderBackend, EncoderOnFirstUse, open_encoder
from retrieval.encoding.engines import engines_of
from retrieval.outside.memory import MemorySharedStore
from retrieval.outside.pages import OutsideReader
from retrieval.outside.services import open_outside_services
from retrieval.ports import PageReader, Searcher
from retrieval.search.in_process import LocalSearcher, open_local
from retrieval.search.library import DEFAULT_COLLECTION
from retrieval.service.client import IndexClient
from retrieval.service.owner_lock import lock_home as owned
from retrieval.store.catalogue import Collection
from retrieval.store.home import open_retrieval_home
from training.evaluation.harness.answering import World
from workflows.tools.toolbox import OutsideTools, corpora_of

ENCODER_THREADS = 2


@dataclass(frozen=True, slots=True)
class SearchSurroundings:
    """The world of a run, and for its manifest the generation of each collection's index and the services outside."""

    world: World
    corpora: Mapping[str, str]
    services: tuple[str, ...]


@asynccontextmanager
async def open_surroundings(
    settings: Settings, collections: Sequence[str], own: Collection | None = None
) -> AsyncIterator[SearchSurroundings]:
    """Open everything that can be searched. `own` is a benchmark's corpus, built first where it is missing.

    Raises:
        SetupError: another process has the home's indexes open, or a corpus cannot be built.
    """
    names = tuple(collections) or ((own.name,) if own else (DEFAULT_COLLECTION,))
    async with AsyncExitStack() as stack:
        searcher, reader, generations = await _open_index(stack, settings, names, own)
        outside = await stack.enter_async_context(open_outside_services(settings, MemorySharedStore()))
        pages: PageReader = OutsideReader(reader, outside.entrance, outside.pages) if outside.pages else reader
        asked = tuple(collections) or ((own.name,) if own else ())
        corpora = corpora_of(asked, settings.scientific_collections, own=not asked)
        world = World(searcher, pages, corpora, OutsideTools(outside.web, outside.papers))
        yield SearchSurroundings(world, generations, tuple(sorted(settings.services)))


async def _open_index(
    stack: AsyncExitStack, settings: Settings, names: Sequence[str], own: Collection | None
) -> tuple[Searcher, PageReader, dict[str, str]]:
    if settings.retrieval_url is not None:
        client = await stack.enter_async_context(IndexClient(settings.retrieval_url))
        return client, client, dict.fromkeys(names, "")
    local = stack.enter_context(_open_home(settings, names, own))
    found = {name: local.library.generation_of(name) for name in names}
    if missing := [name for name, generation in found.items() if generation is None]:
        raise SetupError(f"there is no collection {missing[0]!r}; build it with `rubrica corpus build`")
    return local, local, {name: generation.name for name, generation in found.items() if generation}


def _open_home(settings: Settings, names: Sequence[str], own: Collection | None) -> LocalSearcher:
    """Open the home's indexes. The default collection and a benchmark's own are built where they are missing."""
    if own is not None or DEFAULT_COLLECTION in names:
        added = [own] if own else []
        local = open_local(settings.home, *added, encoder=lambda: open_own_encoder(settings))
    else:
        release = owned(settings.home)
        local = LocalSearcher(open_retrieval_home(settings.home), EncoderOnFirstUse(lambda: open_own_encoder(settings)), release)
    for name in names:
        local.library.refresh(name)
    return local


def open_own_encoder(settings: Settings) -> Encoder:
    """Open the encoder that the settings name: a server's, or the home's own weights."""
    server = engines_of(settings).embeddings
    return open_encoder(EncoderBackend.AUTO, settings.models_dir, settings.home / "models", ENCODER_THREADS, server=server)
