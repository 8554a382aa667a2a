"""Settings, read once by each entry point from `RUBRICA_*` variables and passed down as arguments.

Each setting replaces a part of the local stack by a remote one, or tunes it; without any, everything runs locally.
An empty value counts as not set, as in compose files.
"""

import os
from collections.abc import Mapping
from decimal import Decimal
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Self
from urllib.parse import urlsplit
from uuid import UUID

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, FilePath, SecretStr, ValidationError, model_validator

from app.accounts.nouns.access import LOCAL_ORGANISATION
from app.domain.errors import SetupError
from app.domain.pricing import PricedModel, parse_priced_model
from app.domain.services import SERVICES
from app.own_servers import point_to_own_server
from app.setting_parts import explain_parts
from app.setting_problems import explain_malformed, explain_unknown
from app.setting_values import (
    BucketAddress,
    DatabaseUrl,
    EmailAddress,
    Limit,
    MailSecurity,
    Names,
    Networks,
    Origins,
    Port,
    ProxyAddress,
    UsdPerMillionTokens,
    WebAddress,
    check_host_and_port,
    check_service_address,
    write_value,
)

PREFIX = "RUBRICA_"
# Resolved from the folder where the command was started, and stored: services may run elsewhere.
PATH_SETTINGS = (
    *("home", "documents_dir", "models_dir", "artifacts_dir", "loop_dir", "loop_job", "train_python", "benchmarks_dir"),
    *("browser", "providers_file", "mcp_servers"),
)


class Codec(StrEnum):
    """The form of structured answers: a JSON schema that the server enforces, or tags in free text."""

    SCHEMA = "schema"
    TAGS = "tags"


class ClaimGrader(StrEnum):
    """The judge of all claims of a report that are not in their source's own words."""

    OFFLINE = "offline"
    NLI = "nli"
    MODEL = "model"


class Settings(BaseModel):
    """Everything that the environment may decide. Secrets print as stars."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    home: Path = Field(default=Path(".rubrica"), description="Folder of all local state.")
    documents_dir: Path | None = Field(
        default=None,
        description="Folder of own documents, which API and retrieval service share; default: `documents` in the home.",
    )
    models_dir: Path | None = Field(default=None, description="Folder of model weights; default: `models` in the home.")
    artifacts_dir: Path | None = Field(default=None, description="Trained models; default: `artifacts` in the home.")
    artifacts_url: BucketAddress | None = Field(
        default=None, description="A bucket for them behind S3's protocol, `s3://bucket/prefix`; the folder then holds copies."
    )
    operator: UUID = Field(default=LOCAL_ORGANISATION, description="The organisation whose admins promote trained models.")
    benchmarks_dir: Path | None = Field(default=None, description="Public benchmarks; default: `benchmarks` in the home.")
    loop_dir: Path | None = Field(default=None, description="Folder of cycles of retraining; default: `loop` in the home.")
    loop_job: FilePath | None = Field(default=None, description="A Job of Kubernetes, as JSON, in whose pods cycles' steps run.")
    train_python: FilePath | None = Field(default=None, description="A Python with `rubrica[train]`; default: the worker's own.")
    llm_base_url: WebAddress | None = Field(default=None, description="An OpenAI-compatible server, with its `/v1`.")
    llm_api_key: SecretStr | None = Field(default=None, description="Sent as the bearer token.")
    llm_model: str | None = Field(default=None, description="The model to ask for.")
    llm_input_price: UsdPerMillionTokens = Field(default=Decimal(0), description="US$ per million input tokens.")
    llm_output_price: UsdPerMillionTokens = Field(default=Decimal(0), description="US$ per million output tokens.")
    llm_alternatives: Names = Field(
        default=(), description="Further models of that server for comparisons, each with its prices: a=0.5/2, b=1/4."
    )
    llm_codec: Codec = Field(default=Codec.SCHEMA, description="`schema` or `tags`.")
    llm_context: int = Field(default=0, ge=0, description="The model's context in tokens; 0: as its server tells, else 32000.")
    llm_stream: bool = Field(default=True, description="Read answers as a stream (1 or 0).")
    llm_tell_after: int = Field(default=20, ge=1, description="Seconds without a token of which a run tells.")
    llm_give_up_after: Limit = Field(default=None, description="Seconds without a token that end a call; default: by its length.")
    local_model: str | None = Field(
        default=None, description="A model that the stack serves (a name of `rubrica models`, a GGUF file), or `ollama/NAME`."
    )
    local_model_threads: int = Field(default=0, ge=0, description="Threads of that model; 0: one for each core.")
    eval_judge_base_url: WebAddress | None = Field(
        default=None, description="The server of the judge of evaluations, where it is another one."
    )
    eval_judge_api_key: SecretStr | None = Field(default=None, description="Sent to it as the bearer token.")
    eval_judge_model: str | None = Field(default=None, description="The judge of evaluations; default: the model itself.")
    eval_judge_input_price: UsdPerMillionTokens = Field(default=Decimal(0), description="US$ per million input tokens.")
    eval_judge_output_price: UsdPerMillionTokens = Field(default=Decimal(0), description="US$ per million output tokens.")
    judge: ClaimGrader | None = Field(
        default=None, description="`offline`, `nli` or `model`: who judges claims; default: the best that is configured."
    )
    nli_model: str | None = Field(default=None, description="A cross-encoder for inference: a hub name or a folder.")
    database_url: DatabaseUrl | None = Field(default=None, description="PostgreSQL instead of the local one, as the API's role.")
    worker_database_url: DatabaseUrl | None = Field(default=None, description="The same database, as the role that workers use.")
    database_owner_url: DatabaseUrl | None = Field(default=None, description="The same, as its owner: for `rubrica migrate`.")
    temporal_address: Annotated[str, AfterValidator(check_host_and_port)] | None = Field(
        default=None, description="A Temporal server instead of the local one."
    )
    qdrant_url: WebAddress | None = Field(default=None, description="A Qdrant server instead of the local index.")
    qdrant_prefix: Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]{1,64}$")] | None = Field(
        default=None, description="What the names of this home's indexes on the Qdrant server begin with."
    )
    qdrant_grpc_port: Port | None = Field(default=None, description="The Qdrant server's gRPC port, to speak gRPC with it.")
    embeddings_url: WebAddress | None = Field(default=None, description="A server that encodes texts, with its `/v1`.")
    embeddings_model: str | None = Field(default=None, description="The model to ask it for.")
    embeddings_api_key: SecretStr | None = Field(default=None, description="Sent to it as the bearer token.")
    reranker: str | None = Field(default=None, description="A cross-encoder that puts search results in order.")
    reranker_url: WebAddress | None = Field(default=None, description="A server that runs the reranker, with its `/v1`.")
    reranker_api_key: SecretStr | None = Field(default=None, description="Sent to it as the bearer token.")
    retrieval_url: Annotated[str, AfterValidator(check_service_address)] | None = Field(
        default=None, description="A running retrieval service (unix:/path or http://host:port) instead of an own one."
    )
    scientific_collections: Names = Field(default=(), description="Collections of papers, a, b: `scholar` searches them.")
    api_url: WebAddress | None = Field(
        default=None, description="A running API: the command line and the page use it instead of starting an own one."
    )
    sign_up: bool = Field(default=True, description="Whether anybody may make an organisation (1 or 0).")
    page_url: WebAddress | None = Field(default=None, description="Where browsers reach the page.")
    oidc_issuer: WebAddress | None = Field(default=None, description="An OpenID Connect provider to sign in with.")
    oidc_client_id: str | None = Field(default=None, description="The id by which it knows this deployment.")
    oidc_client_secret: SecretStr | None = Field(default=None, description="The secret it shares with this deployment.")
    requests_per_minute: Limit = Field(default=None, description="Requests a minute that each organisation may send.")
    concurrent_runs: Limit = Field(default=None, description="Runs that each organisation may have at a time.")
    tokens_per_month: Limit = Field(default=None, description="Tokens that each organisation may use in a month.")
    cost_microusd_per_month: Limit = Field(default=None, description="Millionths of a US$ that each may spend in a month.")
    api_key: SecretStr | None = Field(default=None, description="The API key of the command line and the page.")
    serper_api_key: SecretStr | None = Field(default=None, description="Google's results by Serper, web and papers.")
    brave_api_key: SecretStr | None = Field(default=None, description="Web results by Brave Search.")
    tavily_api_key: SecretStr | None = Field(default=None, description="Web results by Tavily.")
    exa_api_key: SecretStr | None = Field(default=None, description="Web results by Exa.")
    searxng_url: WebAddress | None = Field(default=None, description="Web results by a SearXNG instance of your own.")
    semantic_scholar_api_key: SecretStr | None = Field(default=None, description="Papers by Semantic Scholar.")
    openalex_api_key: SecretStr | None = Field(default=None, description="Papers by OpenAlex.")
    contact_email: EmailAddress | None = Field(
        default=None, description="Papers by Crossref, Europe PMC and arXiv, which need no key but ask who is calling."
    )
    jina_api_key: SecretStr | None = Field(default=None, description="Web pages read by Jina Reader.")
    browser: FilePath | None = Field(default=None, description="A Chromium for web pages that are empty without scripts.")
    providers_file: Path | None = Field(default=None, description="A TOML file with addresses, limits and order of providers.")
    mcp_servers: Path | None = Field(default=None, description="A JSON or TOML file with MCP servers for agents.")
    smtp_host: str | None = Field(default=None, description="A mail server, for messages about changed reports.")
    smtp_port: Port = Field(default=587, description="Its port.")
    smtp_security: MailSecurity = Field(default=MailSecurity.STARTTLS, description="`starttls`, `tls` or `none`.")
    smtp_user: str | None = Field(default=None, description="The user who signs in there.")
    smtp_password: SecretStr | None = Field(default=None, description="That user's password.")
    smtp_from: str | None = Field(default=None, description="The sender of messages: Name <address>.")
    public_url: WebAddress | None = Field(
        default=None, description="The address at which readers reach the page, and the API under /v1; messages link there."
    )
    api_port: Port | None = Field(default=None, description="Port of the HTTP API.")
    allowed_hosts: Names = Field(default=(), description="Further names by which API and page are addressed: a.example, ...")
    trusted_proxies: Networks = Field(default=(), description="Whose X-Forwarded-For is believed: 127.0.0.1, 10.1.0.0/16, ...")
    cors_origins: Origins = Field(default=(), description="Origins whose pages may use the API: https://a.example, ...")
    page_proxy: ProxyAddress | None = Field(
        default=None, description="A proxy for web pages and webhooks, with user and password if it wants them."
    )
    webhook_networks: Networks = Field(default=(), description="Private networks that webhooks may lead to: 10.1.0.0/16, ...")
    ui_port: Port | None = Field(default=None, description="Port of the web page.")
    log_mb: int = Field(default=10, ge=1, description="MB after which a log of the local stack is set aside.")
    log_files: int = Field(default=5, ge=1, description="Logs set aside that are kept of each process.")

    _point_to_own_server = model_validator(mode="before")(point_to_own_server)

    @model_validator(mode="after")
    def _check_model(self) -> Self:
        if (self.llm_base_url is None) != (self.llm_model is None):
            missing, given = ("LLM_BASE_URL", "LLM_MODEL") if self.llm_base_url is None else ("LLM_MODEL", "LLM_BASE_URL")
            raise ValueError(f"{PREFIX}{missing} is missing: {PREFIX}{given} is set, and a model needs both")
        if self.llm_api_key is not None and self.llm_base_url is None:
            raise ValueError(f"{PREFIX}LLM_BASE_URL is missing: {PREFIX}LLM_API_KEY is set, but no server to send it to")
        if self.local_model is not None and self.llm_base_url is not None:
            raise ValueError(f"{PREFIX}LLM_BASE_URL names a server and {PREFIX}LOCAL_MODEL a model to serve here; leave one out")
        if self.llm_alternatives and self.llm_base_url is None:
            raise ValueError(f"{PREFIX}LLM_BASE_URL is missing: {PREFIX}LLM_ALTERNATIVES is set, but no server has these models")
        for alternative in self.llm_alternatives:
            parse_priced_model(alternative)
        if self.judge is ClaimGrader.NLI and self.nli_model is None and self.retrieval_url is None:
            raise ValueError(f"{PREFIX}NLI_MODEL is missing: {PREFIX}JUDGE is nli, and no model of inference is named")
        return self

    @model_validator(mode="after")
    def _check_parts(self) -> Self:
        if problem := explain_parts(PREFIX, self):
            raise ValueError(problem)
        return self

    @property
    def host_names(self) -> frozenset[str]:
        """The names that browsers know this deployment by."""
        addresses = [urlsplit(address) for address in (self.public_url, self.page_url) if address]
        return frozenset((*self.allowed_hosts, *(address.hostname for address in addresses if address.hostname)))

    @property
    def models(self) -> Path:
        """The folder of model weights."""
        return self.models_dir or self.home / "models"

    @property
    def artifacts(self) -> Path:
        """The folder of trained models."""
        return self.artifacts_dir or self.home / "artifacts"

    @property
    def mcp_accounts(self) -> Path:
        """The folder of the accounts at MCP servers."""
        return self.home / "mcp-accounts"

    @property
    def alternatives(self) -> tuple[PricedModel, ...]:
        """The further models that reports may be written with."""
        return tuple(map(parse_priced_model, self.llm_alternatives))

    @property
    def default_model(self) -> PricedModel | None:
        """The model that runs use, with its prices; None without one."""
        if self.llm_model is None:
            return None
        judges = self.claim_judge is ClaimGrader.MODEL
        return PricedModel(self.llm_model, self.llm_input_price, self.llm_output_price, judges)

    @property
    def loop(self) -> Path:
        """The folder of cycles of retraining."""
        return self.loop_dir or self.home / "loop"

    @property
    def documents(self) -> Path:
        """The folder of own documents."""
        return self.documents_dir or self.home / "documents"

    @property
    def services(self) -> frozenset[str]:
        """Names of the outside services that these settings turn on."""
        return frozenset(service.name for service in SERVICES if getattr(self, service.setting) is not None)

    @property
    def claim_judge(self) -> ClaimGrader:
        """The judge of claims: the one that is named, or the best one that is configured."""
        best = ClaimGrader.OFFLINE if self.nli_model is None else ClaimGrader.NLI
        return self.judge or (ClaimGrader.MODEL if self.llm_model else best)

    def to_environment(self) -> dict[str, str]:
        """Return these settings as variables, secrets in clear text: for child processes only, never for a log."""
        given = {name: getattr(self, name) for name in self.model_fields_set}
        return {PREFIX + name.upper(): write_value(value) for name, value in given.items() if value is not None}


def read_settings(environment: Mapping[str, str]) -> Settings:
    """Return the settings in `environment`; other variables are ignored.

    Raises:
        SetupError: naming each unknown or malformed `RUBRICA_*` variable and the reason. Values of secrets are not repeated.
    """
    given = {k.removeprefix(PREFIX): v for k, v in environment.items() if k.startswith(PREFIX) and v.strip()}
    known = {name.upper(): name for name in Settings.model_fields}
    problems = [explain_unknown(PREFIX, name, list(known)) for name in given if name not in known]
    if not problems:
        try:
            values = {known[name]: value.strip() for name, value in given.items()}
            # Files with variables, such as systemd's, leave `~` as it stands.
            expanded = {name: os.path.expanduser(values[name]) for name in PATH_SETTINGS if name in values}
            settings = Settings.model_validate(values | expanded)
        except ValidationError as error:
            problems = [explain_malformed(PREFIX, detail) for detail in error.errors()]
        else:
            paths = {name: path for name in PATH_SETTINGS if (path := getattr(settings, name)) is not None}
            return settings.model_copy(update={name: path.absolute() for name, path in paths.items()})
    raise SetupError("the settings cannot be used:\n" + "\n".join(f"  - {problem}" for problem in problems))
