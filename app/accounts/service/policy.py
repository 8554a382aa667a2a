"""Settings of a deployment about accounts."""

from dataclasses import dataclass, field, replace
from datetime import timedelta

from app.domain.limits import Quota
from app.outgoing.mail import Mailbox, mailbox_of
from app.settings import Settings

NO_LIMITS = Quota()
MAIL_PATIENCE_S = 8.0
"""The limit in seconds, since a person waits for the mail."""


@dataclass(frozen=True)
class IdentityProvider:
    """An OpenID Connect provider that knows us as `client_id`."""

    issuer: str
    client_id: str
    client_secret: str = field(repr=False, default="")


@dataclass(frozen=True)
class AccountPolicy:
    """The settings of accounts. `sign_up`: anybody may make an organisation. `public_url`: the API's address for browsers.

    `page_url` is the page's address; `most` limits each organisation; invitations go out from `mailbox`.
    """

    sign_up: bool = True
    public_url: str = ""
    page_url: str = ""
    provider: IdentityProvider | None = None
    mailbox: Mailbox | None = None
    most: Quota = NO_LIMITS
    session_lifetime: timedelta = timedelta(days=30)
    session_idle: timedelta = timedelta(days=7)
    session_renewal: timedelta = timedelta(hours=1)
    invitation_valid: timedelta = timedelta(days=7)
    flow_valid: timedelta = timedelta(minutes=10)
    just_now: timedelta = timedelta(minutes=10)

    @property
    def secure(self) -> bool:
        """True when browsers come by https, so that cookies are sent by https only."""
        return self.public_url.startswith("https://")

    @classmethod
    def of(cls, settings: Settings) -> "AccountPolicy":
        """Build the policy from the environment's settings."""
        provider = None
        if settings.oidc_issuer and settings.oidc_client_id:
            secret = settings.oidc_client_secret.get_secret_value() if settings.oidc_client_secret else ""
            provider = IdentityProvider(settings.oidc_issuer, settings.oidc_client_id, secret)
        most = Quota(**{name: getattr(settings, name) for name in Quota.model_fields})
        mailbox = mailbox_of(settings)
        waited_for = replace(mailbox, patience_s=MAIL_PATIENCE_S) if mailbox else None
        return cls(settings.sign_up, settings.public_url or "", settings.page_url or "", provider, waited_for, most)


DEFAULT_POLICY = AccountPolicy()
