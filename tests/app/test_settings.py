"""What the environment may say, and what is refused."""

from decimal import Decimal
from pathlib import Path

import pytest

from app.domain.errors import SetupError
from app.domain.options import SourceKind
from app.domain.pricing import PricedModel
from app.domain.services import find_searchable
from app.settings import Codec, Settings, read_settings

SECRET = "sk-very-secret"


def test_nothing_set_means_all_local() -> None:
    settings = read_settings({"PATH": "/bin", "rubrica_home": "ignored"})
    assert settings.home == Path.cwd() / ".rubrica"
    assert settings.models == settings.home / "models"
    assert settings.database_url is None
    assert settings.llm_codec is Codec.SCHEMA


def test_the_bucket_of_artifacts_is_an_address() -> None:
    assert read_settings({"RUBRICA_ARTIFACTS_URL": "s3://models/rubrica/"}).artifacts_url == "s3://models/rubrica"
    for odd in (
        "https://models/rubrica",
        "s3://",
        "s3://Models",
        "s3://models/../other",
        "s3://models?x=1",
        "s3://user:key@models",
    ):
        with pytest.raises(SetupError, match="s3://bucket/prefix"):
            read_settings({"RUBRICA_ARTIFACTS_URL": odd})


def test_values_are_parsed() -> None:
    settings = read_settings(
        {
            "RUBRICA_LLM_BASE_URL": "http://127.0.0.1:9/v1/",
            "RUBRICA_LLM_MODEL": "m",
            "RUBRICA_LLM_INPUT_PRICE": "0.15",
            "RUBRICA_LLM_STREAM": "0",
            "RUBRICA_API_PORT": " 8123 ",
            "RUBRICA_TEMPORAL_ADDRESS": "[::1]:7233",
        }
    )
    assert settings.llm_base_url == "http://127.0.0.1:9/v1"
    assert settings.llm_input_price == Decimal("0.15")
    assert settings.llm_stream is False
    assert settings.api_port == 8123


def test_every_path_may_begin_with_the_users_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "chrome").touch()
    names = [name for name, field in Settings.model_fields.items() if "Path" in str(field)]
    settings = read_settings({f"RUBRICA_{name.upper()}": "~/chrome" for name in names})
    assert {name: getattr(settings, name) for name in names} == dict.fromkeys(names, tmp_path / "chrome")


def test_an_empty_value_counts_as_not_set() -> None:
    assert read_settings({"RUBRICA_DATABASE_URL": ""}).database_url is None


@pytest.mark.parametrize(
    ("variable", "value", "reason"),
    [
        ("RUBRICA_TEMPORAL_ADDRESS", "localhost", "expected host:port"),
        ("RUBRICA_TEMPORAL_ADDRESS", "http://localhost:7233", "expected host:port"),
        ("RUBRICA_TEMPORAL_ADDRESS", "localhost:99999", "expected host:port"),
        ("RUBRICA_QDRANT_URL", "localhost:6333", "expected an address"),
        ("RUBRICA_QDRANT_PREFIX", "acme.prod", "should match pattern"),
        ("RUBRICA_RETRIEVAL_URL", "/tmp/index.sock", "expected an address"),
        ("RUBRICA_DATABASE_URL", "mysql://u:p@h/d", "expected an address such as postgresql://"),
        ("RUBRICA_DATABASE_URL", "postgresql://u:p@h", "expected an address such as postgresql://"),
        ("RUBRICA_DATABASE_URL", "postgresql://u:p@h:x/d", "the port in the address"),
        ("RUBRICA_API_PORT", "0", "greater than or equal to 1"),
        ("RUBRICA_API_PORT", "http", "valid integer"),
        ("RUBRICA_LLM_CODEC", "xml", "'schema' or 'tags'"),
        ("RUBRICA_LLM_INPUT_PRICE", "-1", "greater than or equal to 0"),
        ("RUBRICA_LLM_STREAM", "perhaps", "valid boolean"),
    ],
)
def test_a_malformed_value_is_refused_with_name_and_reason(variable: str, value: str, reason: str) -> None:
    with pytest.raises(SetupError) as refusal:
        read_settings({variable: value})
    assert f"{variable} is malformed" in str(refusal.value)
    assert reason in str(refusal.value)


def test_an_unknown_name_is_refused_with_the_nearest_known_one() -> None:
    with pytest.raises(SetupError, match="RUBRICA_LLM_BASEURL is not a setting; did you mean RUBRICA_LLM_BASE_URL"):
        read_settings({"RUBRICA_LLM_BASEURL": "http://x"})


def test_every_problem_is_told_at_once() -> None:
    with pytest.raises(SetupError) as refusal:
        read_settings({"RUBRICA_API_PORT": "x", "RUBRICA_QDRANT_URL": "y"})
    assert "RUBRICA_API_PORT" in str(refusal.value)
    assert "RUBRICA_QDRANT_URL" in str(refusal.value)


@pytest.mark.parametrize(
    ("given", "missing"),
    [
        ({"RUBRICA_LLM_MODEL": "m"}, "RUBRICA_LLM_BASE_URL is missing"),
        ({"RUBRICA_LLM_BASE_URL": "http://x"}, "RUBRICA_LLM_MODEL is missing"),
        ({"RUBRICA_LLM_API_KEY": SECRET}, "RUBRICA_LLM_BASE_URL is missing"),
        ({"RUBRICA_EMBEDDINGS_URL": "http://x/v1"}, "RUBRICA_EMBEDDINGS_MODEL is missing"),
        ({"RUBRICA_EMBEDDINGS_API_KEY": SECRET}, "RUBRICA_EMBEDDINGS_URL is missing"),
        ({"RUBRICA_RERANKER_URL": "http://x/v1"}, "RUBRICA_RERANKER is missing"),
        ({"RUBRICA_QDRANT_GRPC_PORT": "6334"}, "RUBRICA_QDRANT_URL is missing"),
        ({"RUBRICA_QDRANT_PREFIX": "acme"}, "RUBRICA_QDRANT_URL is missing"),
    ],
)
def test_half_a_model_is_refused(given: dict[str, str], missing: str) -> None:
    with pytest.raises(SetupError, match=missing) as refusal:
        read_settings(given)
    assert SECRET not in str(refusal.value)


def test_secrets_are_never_printed() -> None:
    url = f"postgresql://u:{SECRET}@h/d"
    settings = read_settings(
        {
            "RUBRICA_DATABASE_URL": url,
            "RUBRICA_LLM_BASE_URL": "http://x",
            "RUBRICA_LLM_MODEL": "m",
            "RUBRICA_LLM_API_KEY": SECRET,
        }
    )
    assert SECRET not in f"{settings!r} {settings} {settings.model_dump_json()}"
    with pytest.raises(SetupError) as refusal:
        read_settings({"RUBRICA_DATABASE_URL": url.replace("postgresql", "mysql")})
    assert SECRET not in str(refusal.value)


def test_children_read_back_the_same_settings() -> None:
    settings = read_settings(
        {
            "RUBRICA_DATABASE_URL": "postgresql://u:p@h/d",
            "RUBRICA_LLM_STREAM": "false",
            "RUBRICA_LLM_CODEC": "tags",
            "RUBRICA_HOME": "/somewhere",
        }
    )
    assert read_settings(settings.to_environment()) == settings


def test_settings_cannot_change() -> None:
    with pytest.raises(ValueError, match="frozen"):
        Settings().home = Path("/elsewhere")  # type: ignore[misc]


def test_the_best_judge_that_is_configured_judges_claims() -> None:
    model = {"RUBRICA_LLM_BASE_URL": "http://127.0.0.1:1/v1", "RUBRICA_LLM_MODEL": "m"}
    inference = {"RUBRICA_NLI_MODEL": "minicheck-roberta-large"}
    assert read_settings({}).claim_judge == "offline"
    assert read_settings(inference).claim_judge == "nli"
    assert read_settings(model | inference).claim_judge == "model"
    named = read_settings(model | {"RUBRICA_JUDGE": "offline"})
    assert (named.claim_judge, named.default_model and named.default_model.judges) == ("offline", False)


def test_a_judge_of_inference_needs_its_model() -> None:
    with pytest.raises(SetupError, match="RUBRICA_NLI_MODEL"):
        read_settings({"RUBRICA_JUDGE": "nli"})
    settings = read_settings({"RUBRICA_JUDGE": "nli", "RUBRICA_NLI_MODEL": "cross-encoder/some"})
    assert (settings.judge, settings.nli_model) == ("nli", "cross-encoder/some")


def test_names_with_commas_are_several() -> None:
    settings = read_settings({"RUBRICA_SCIENTIFIC_COLLECTIONS": "scifact, papers,"})
    assert settings.scientific_collections == ("scifact", "papers")
    assert read_settings(settings.to_environment()) == settings


def test_browsers_know_the_deployment_by_the_names_in_its_addresses_and_by_further_ones() -> None:
    addresses = {"RUBRICA_PUBLIC_URL": "https://Api.example:8443", "RUBRICA_PAGE_URL": "https://page.example/"}
    settings = read_settings({**addresses, "RUBRICA_ALLOWED_HOSTS": "a.example, b.example"})
    assert settings.host_names == {"api.example", "page.example", "a.example", "b.example"}
    assert read_settings({}).host_names == set()


def test_further_models_come_with_their_prices() -> None:
    server = {"RUBRICA_LLM_BASE_URL": "http://127.0.0.1:8000/v1", "RUBRICA_LLM_MODEL": "m"}
    settings = read_settings(server | {"RUBRICA_LLM_ALTERNATIVES": "org/small:7b=0.5/2, free"})
    assert settings.alternatives == (
        PricedModel("org/small:7b", Decimal("0.5"), Decimal(2)),
        PricedModel("free", Decimal(0), Decimal(0)),
    )
    assert read_settings(settings.to_environment()) == settings
    for malformed in ("small=1", "small=a/b", "small=-1/2", "small=nan/1", "=1/2"):
        with pytest.raises(SetupError, match="expected"):
            read_settings(server | {"RUBRICA_LLM_ALTERNATIVES": malformed})
    with pytest.raises(SetupError, match="RUBRICA_LLM_BASE_URL is missing"):
        read_settings({"RUBRICA_LLM_ALTERNATIVES": "small"})


def test_only_what_a_setting_turns_on_can_be_searched_outside() -> None:
    here = {SourceKind.CORPORA, SourceKind.COLLECTIONS}
    assert find_searchable(read_settings({}).services, papers_here=False) == here
    assert find_searchable(read_settings({}).services, papers_here=True) == here | {SourceKind.SCHOLAR}
    on = read_settings({"RUBRICA_SEARXNG_URL": "http://127.0.0.1:9"}).services
    assert find_searchable(on, papers_here=False) == here | {SourceKind.WEB}
