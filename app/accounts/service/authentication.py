"""Find out who sends a request."""

from app.accounts.nouns.access import SCOPES_OF_ROLE, Pace, Principal
from app.accounts.nouns.api_key import ApiKey
from app.accounts.nouns.token import digest_token
from app.accounts.service.policy import AccountPolicy
from app.accounts.storage import credentials, sessions
from app.database.engine import Executor
from app.domain.errors import Unauthenticated

UNKNOWN_KEY = "this API key is unknown, revoked or expired"
SESSION_ENDED = "you are not signed in any more; sign in again"


class Authenticator:
    """A finder of the person behind a credential. `trusted` sees all organisations: the caller's is not known yet.

    Raises:
        Unauthenticated: the credential proves nothing.
        Unavailable: the database does not answer.
    """

    def __init__(self, trusted: Executor, policy: AccountPolicy) -> None:
        self._trusted = trusted
        self._policy = policy

    async def recognise_key(self, text: str) -> Principal:
        """Return the principal of an API key: with the scopes that both the person's role and the key have."""
        key = ApiKey.parse(text)
        holder = await credentials.find_holder(self._trusted, key.id)
        if holder is None or not key.matches(holder.secret_hash):
            raise Unauthenticated(UNKNOWN_KEY)
        if holder.unnoted:
            await credentials.note_use(self._trusted, key.id)
        return Principal(
            organisation_id=holder.organisation_id,
            user_id=holder.user_id,
            role=holder.role,
            scopes=frozenset(scope for scope in SCOPES_OF_ROLE[holder.role] if scope in holder.scopes),
            key_id=key.id,
            pace=Pace(organisation=holder.organisations, key=holder.keys),
        )

    async def recognise_session(self, token: str) -> Principal:
        """Return the principal of a session: with all scopes of the person's role."""
        digest = digest_token(token)
        holder = await sessions.find_holder(self._trusted, digest, self._policy.session_idle)
        if holder is None:
            raise Unauthenticated(SESSION_ENDED)
        if holder.unnoted:
            await sessions.note_seen(self._trusted, digest)
        return Principal(
            organisation_id=holder.organisation_id,
            user_id=holder.user_id,
            role=holder.role,
            scopes=SCOPES_OF_ROLE[holder.role],
            pace=Pace(organisation=holder.organisations),
        )
