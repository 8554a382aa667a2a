"""All of them, for the composition root."""

from app.accounts.api.keys import KeysController
from app.accounts.api.oidc import OidcController
from app.accounts.api.sessions import SessionsController
from app.accounts.api.team import InvitationsController, MembersController
from app.audit.api import AuditController
from app.quotas.api import LimitsController
from app.retention.api import RetentionController

CONTROLLERS = (
    *(SessionsController, MembersController, InvitationsController, KeysController, LimitsController, RetentionController),
    *(AuditController, OidcController),
)
