"""Leases of devices. Who has one renews it; a holder that died loses it by silence."""

from datetime import datetime, timedelta
from typing import NamedTuple

from app.database.engine import Executor, translate_outages

TAKE = """
    INSERT INTO device_leases (device, holder, purpose, ends_at) VALUES ($1, $2, $3, now() + $4)
    ON CONFLICT (device) DO UPDATE SET holder = $2, purpose = $3, ends_at = now() + $4
    WHERE device_leases.holder = $2 OR device_leases.ends_at < now()"""
GIVE_BACK = "DELETE FROM device_leases WHERE device = $1 AND holder = $2"
HOLDER = "SELECT holder, purpose, ends_at FROM device_leases WHERE device = $1 AND ends_at >= now()"


class DeviceHolder(NamedTuple):
    """Who has a device, for what, and until when."""

    holder: str
    purpose: str
    ends_at: datetime


async def take(database: Executor, device: str, holder: str, purpose: str, length: timedelta) -> bool:
    """Take or renew a device for a while; False where another has it."""
    async with translate_outages():
        return await database.execute(TAKE, device, holder, purpose, length) == "INSERT 0 1"


async def give_back(database: Executor, device: str, holder: str) -> None:
    """End a holder's lease."""
    async with translate_outages():
        await database.execute(GIVE_BACK, device, holder)


async def find_holder(database: Executor, device: str) -> DeviceHolder | None:
    """Return who has a device now; None where nobody has."""
    async with translate_outages():
        row = await database.fetchrow(HOLDER, device)
    return DeviceHolder(*row) if row else None
