"""The model servers that people run on their own machine: the words that name them, and where they listen by default."""

from collections.abc import Mapping
from typing import Any, NamedTuple


class OwnServer(NamedTuple):
    """A server. `context` is what it keeps of a conversation unless told otherwise, cutting the rest silently; 0: it refuses."""

    title: str
    port: int
    context: int = 0

    @property
    def base_url(self) -> str:
        """Its address on this machine."""
        return f"http://127.0.0.1:{self.port}/v1"


OWN_SERVERS = {
    "ollama": OwnServer("Ollama", 11434, 4_096),
    "lmstudio": OwnServer("LM Studio", 1234, 4_096),
    "llamacpp": OwnServer("llama.cpp", 8080),
    "vllm": OwnServer("vLLM", 8000),
}


def point_to_own_server(settings: Any) -> Any:
    """Return settings in which a local model such as `ollama/NAME` is that server and its model; others stay as they are."""
    if not isinstance(settings, Mapping) or settings.get("llm_base_url") is not None:
        return settings
    word, _, name = str(settings.get("local_model") or "").partition("/")
    server = OWN_SERVERS.get(word)
    if server is None or not name or name.endswith(".gguf"):
        return settings
    return {
        "llm_context": server.context,
        **settings,
        "local_model": None,
        "llm_base_url": server.base_url,
        "llm_model": name,
    }
