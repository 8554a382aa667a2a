"""Export and erase a person's own data."""

import asyncpg

from app.accounts.service.sign_in import SignIn
from app.accounts.storage import people, personal
from app.audit import storage as audit
from app.audit.storage import Action
from app.database.tenancy import Tenant
from app.domain.errors import Conflict, Forbidden

NO_PASSWORD = "set a password first (POST /v1/me/password, just after signing in): erasure is confirmed with it"


class PersonalData:
    """The use cases of a person's own data: to read all of it, and to be erased.

    Raises:
        Unavailable: the database does not answer.
    """

    def __init__(self, trusted: asyncpg.Pool, sign_in: SignIn) -> None:
        self._trusted = trusted
        self._sign_in = sign_in

    async def export(self, by: Tenant) -> str:
        """Return everything that is stored about the person, in all of their organisations, as JSON text."""
        assert by.user is not None
        await audit.record(self._trusted, Action.DATA_EXPORTED, by.user, by=by)
        return await personal.export(self._trusted, by.user)

    async def erase(self, password: str, by: Tenant) -> None:
        """Erase a person. An organisation in which they are alone is deleted with its data; what they made in others stays.

        Files and index of its documents, and the times of its schedules, go within moments, by the work in the background.

        Raises:
            Unauthenticated: the password is wrong.
            Forbidden: they have none to confirm with.
            Conflict: an organisation would be left without an owner.
        """
        assert by.user is not None
        person = await people.find_by_id(self._trusted, by.user)
        assert person is not None
        if person.password_hash is None:
            raise Forbidden(NO_PASSWORD)
        await self._sign_in.check_password(person.email, password, by.address)
        async with self._trusted.acquire() as connection, connection.transaction():
            places = await personal.list_organisations(connection, person.id)
            if left := [place.name for place in places if place.last_owner and not place.alone]:
                raise Conflict(f"make somebody else an owner first: {', '.join(left)} would have none")
            for place in places:
                if place.alone:
                    await personal.dissolve(connection, place.id)
                else:
                    await audit.record(connection, Action.PERSON_ERASED, by=Tenant(place.id))
            await personal.forget(connection, person.id, person.email)
