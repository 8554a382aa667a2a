"""The clock of a database that has run for days: what is past its time is deleted by a look at it of yesterday."""

import asyncpg


async def note_clock_of_yesterday(url: str) -> None:
    """Make the database believe that somebody looked at its clock a day ago."""
    connection = await asyncpg.connect(url)
    try:
        await connection.execute("INSERT INTO clock_looks (at) VALUES (now() - interval '1 day')")
    finally:
        await connection.close()
