"""The servers and models that do retrieval's heavy work for this process. Each entry point reads them once from the settings."""

from app.domain.value import Value
from app.settings import Settings
from retrieval.encoding.encoder_endpoint import EmbeddingsServer
from retrieval.search.reranker import RerankerSettings


class RetrievalEngines(Value):
    """The gRPC port of the Qdrant server and the prefix of names there, an encoder, a reranker.

    None: this process does the work itself or needs none.
    """

    qdrant_grpc_port: int | None = None
    qdrant_prefix: str | None = None
    embeddings: EmbeddingsServer | None = None
    reranking: RerankerSettings | None = None


def engines_of(settings: Settings) -> RetrievalEngines:
    """Return the engines that the settings name."""
    embeddings = reranking = None
    if settings.embeddings_url and settings.embeddings_model:
        embeddings = EmbeddingsServer(
            url=settings.embeddings_url, model=settings.embeddings_model, api_key=settings.embeddings_api_key
        )
    if settings.reranker:
        reranking = RerankerSettings(model=settings.reranker, url=settings.reranker_url, api_key=settings.reranker_api_key)
    return RetrievalEngines(
        qdrant_grpc_port=settings.qdrant_grpc_port,
        qdrant_prefix=settings.qdrant_prefix,
        embeddings=embeddings,
        reranking=reranking,
    )
