"""What a deployment decides about accounts."""

from dataclasses import dataclass, field, replace
from datetime import timedelta

from app.domain.limits import Quota
from app.outgoing.mail import Mailbox, mailbox_of
from app.settings import Settings

NO_LIMITS = Quota()
MAIL_PATIENCE_S = 8.0
"""Somebody waits for it."""


@dataclass(frozen=True)
class Provider:
    """An OpenID Connect provider that knows us as `client_id`."""

    issuer: str
    client_id: str
    client_secret: str = field(repr=False, default="")


@dataclass(frozen=True)
class AccountPolicy:
    """`sign_up`: anybody may make an organisation. `public_url` is where browsers reach the API, `page_url` where the page is.

    `most` is what each organisation may use; invitations go out from `mailbox`.
    """

    sign_up: bool = True
    public_url: str = ""
    page_url: str = ""
    provider: Provider | None = None
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
        """Whether browsers come by https, so that cookies may be kept to it."""
        return self.public_url.startswith("https://")

    @classmethod
    def of(cls, settings: Settings) -> "AccountPolicy":
        """From the environment."""
        provider = None
        if settings.oidc_issuer and settings.oidc_client_id:
            secret = settings.oidc_client_secret.get_secret_value() if settings.oidc_client_secret else ""
            provider = Provider(settings.oidc_issuer, settings.oidc_client_id, secret)
        most = Quota(**{name: getattr(settings, name) for name in Quota.model_fields})
        mailbox = mailbox_of(settings)
        waited_for = replace(mailbox, patience_s=MAIL_PATIENCE_S) if mailbox else None
        return cls(settings.sign_up, settings.public_url or "", settings.page_url or "", provider, waited_for, most)


DEFAULTS = AccountPolicy()
