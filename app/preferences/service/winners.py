"""Report an organisation's votes on ways of writing. They inform a person, who may set the default; nothing sets itself."""

from collections.abc import Sequence
from uuid import UUID

from app.comparisons.service.offers import Offers
from app.comparisons.storage import choices
from app.database.engine import Executor
from app.domain.writer import WriterSettings
from app.preferences.service.contests import Standing, list_standings
from app.preferences.storage import writer_defaults


class Winners:
    """The use cases of one organisation's standings, and of its default.

    Raises:
        Unavailable: the database does not answer.
    """

    def __init__(self, database: Executor, offers: Offers | None = None) -> None:
        self._database = database
        self._offers = offers

    async def get_standings(self) -> tuple[Sequence[Standing], WriterSettings]:
        """Return every two ways that met, and the present default."""
        return list_standings(await choices.list_tallies(self._database)), await writer_defaults.get(self._database)

    async def set_default(self, writer: WriterSettings, user_id: UUID) -> WriterSettings:
        """Set the writer of later reports, unless their run says otherwise.

        Raises:
            InvalidInput: this installation cannot write so.
        """
        if self._offers is not None:
            self._offers.check(writer)
        await writer_defaults.set_(self._database, writer, user_id)
        return writer
