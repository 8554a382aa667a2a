"""The way out for services that the operator names: addresses, the environment's proxy, certificates."""

import ssl
from pathlib import Path

import pytest

from app.domain.errors import SetupError
from app.outgoing.way_out import address_of, carry_key, describe_way, find_proxy, make_tls
from app.settings import read_settings


@pytest.mark.parametrize(
    ("base", "path", "asked"),
    [
        ("http://m.example/v1", "chat/completions", "http://m.example/v1/chat/completions"),
        ("http://m.example/v1/", "models", "http://m.example/v1/models"),
        ("http://m.example", "embeddings", "http://m.example/embeddings"),
        ("https://m.example/v1/chat/completions", "chat/completions", "https://m.example/v1/chat/completions"),
        ("https://m.example/v1/chat/completions/", "models", "https://m.example/v1/models"),
        ("https://m.example/v1/embeddings", "embeddings", "https://m.example/v1/embeddings"),
        ("https://m.example/rerank?key=1", "rerank", "https://m.example/rerank?key=1"),
        (
            "https://a.example/openai/deployments/d?api-version=2024-06-01",
            "chat/completions",
            "https://a.example/openai/deployments/d/chat/completions?api-version=2024-06-01",
        ),
        (
            "https://a.example/openai/deployments/d/chat/completions?api-version=1&x=/",
            "embeddings",
            "https://a.example/openai/deployments/d/embeddings?api-version=1&x=/",
        ),
    ],
)
def test_a_path_is_completed_once_and_a_query_stays_at_the_end(base: str, path: str, asked: str) -> None:
    assert address_of(base, path) == asked


def test_a_key_goes_as_the_server_expects_it() -> None:
    assert carry_key("https://m.example/v1", "k") == {"Authorization": "Bearer k"}
    assert carry_key("https://a.example/openai/deployments/d?api-version=2024-06-01", "k") == {"api-key": "k"}
    assert carry_key("https://a.example/openai/deployments/d?api-version=2024-06-01", "") == {}


PROXY = "http://user:secret@proxy.example:3128"


@pytest.fixture(autouse=True)
def _without_proxies(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "https_proxy", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)


@pytest.mark.parametrize("name", ["HTTP_PROXY", "http_proxy"])
def test_the_proxy_is_the_environments_and_its_password_is_not_shown(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setenv(name, PROXY)
    assert find_proxy("http://model.example/v1") == PROXY
    assert find_proxy("https://model.example/v1") is None
    assert describe_way("http://u:p@model.example/v1") == "http://model.example/v1 through the proxy http://proxy.example:3128"
    monkeypatch.setenv(name, "proxy.example:3128")
    assert find_proxy("http://model.example/v1") == "http://proxy.example:3128"


@pytest.mark.parametrize("url", ["http://127.0.0.1:8000/v1", "http://localhost:8000/v1", "http://[::1]:8000/v1"])
def test_this_machine_is_never_asked_by_a_proxy(monkeypatch: pytest.MonkeyPatch, url: str) -> None:
    monkeypatch.setenv("HTTP_PROXY", PROXY)
    assert find_proxy(url) is None


@pytest.mark.parametrize(
    ("exempt", "url", "by_proxy"),
    [
        ("corp.example", "http://model.corp.example/v1", False),
        (".corp.example", "http://model.corp.example/v1", False),
        ("*.corp.example, other.example", "http://model.corp.example/v1", False),
        ("corp.example", "http://notcorp.example/v1", True),
        ("model.example:8000", "http://model.example:8000/v1", False),
        ("model.example:8000", "http://model.example:9000/v1", True),
        ("10.0.0.0/8", "http://10.1.2.3:8000/v1", False),
        ("10.0.0.0/8,x.example", "http://11.1.2.3:8000/v1", True),
        ("*", "http://model.example/v1", False),
    ],
)
def test_no_proxy_names_hosts_domains_ports_and_networks(
    monkeypatch: pytest.MonkeyPatch, exempt: str, url: str, by_proxy: bool
) -> None:
    monkeypatch.setenv("HTTP_PROXY", PROXY)
    monkeypatch.setenv("no_proxy", exempt)
    assert (find_proxy(url) is not None) == by_proxy


@pytest.mark.parametrize("name", ["SSL_CERT_FILE", "REQUESTS_CA_BUNDLE"])
def test_authorities_that_cannot_be_read_are_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, name: str) -> None:
    monkeypatch.delenv("SSL_CERT_FILE", raising=False)
    monkeypatch.setenv(name, str(tmp_path / "none.pem"))
    with pytest.raises(SetupError, match="names certificates that cannot be read"):
        make_tls()
    monkeypatch.delenv(name)
    assert make_tls().verify_mode is ssl.CERT_REQUIRED


MODEL = {"RUBRICA_LLM_MODEL": "m", "RUBRICA_LLM_BASE_URL": "http://ada:pa55@model.example/v1"}
EMBEDDINGS = {"RUBRICA_EMBEDDINGS_MODEL": "m", "RUBRICA_EMBEDDINGS_URL": "https://ada:pa55@model.example/v1"}


@pytest.mark.parametrize(("settings", "what"), [(MODEL, "LLM"), (EMBEDDINGS, "EMBEDDINGS")])
def test_an_address_with_a_user_and_a_key_say_which_to_leave_out(settings: dict[str, str], what: str) -> None:
    read_settings(settings)
    with pytest.raises(SetupError, match=rf"{what}_API_KEY is set: .* leave `user:password@` out of the address") as told:
        read_settings({**settings, f"RUBRICA_{what}_API_KEY": "k"})
    assert "pa55" not in str(told.value)


@pytest.mark.parametrize("proxy", ["proxy.example:3128", "socks5://proxy.example", "http://proxy.example/path", "http://"])
def test_a_proxy_for_pages_is_an_address_of_http(proxy: str) -> None:
    with pytest.raises(SetupError, match="expected an address such as http://proxy"):
        read_settings({"RUBRICA_PAGE_PROXY": proxy})
