"""All of them, for the composition root."""

from app.api.accounts.audit import AuditController
from app.api.accounts.keys import KeysController
from app.api.accounts.limits import LimitsController
from app.api.accounts.oidc import OidcController
from app.api.accounts.retention import RetentionController
from app.api.accounts.sessions import SessionsController
from app.api.accounts.team import InvitationsController, MembersController

CONTROLLERS = (
    *(SessionsController, MembersController, InvitationsController, KeysController, LimitsController, RetentionController),
    *(AuditController, OidcController),
)
