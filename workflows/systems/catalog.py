"""The research systems by name."""

from app.domain.errors import InvalidInput
from app.domain.query import SystemName
from workflows.systems import minddr
from workflows.systems.stages import System

SYSTEMS: dict[SystemName, System] = {SystemName.MINDDR: minddr.research}


def system_named(name: SystemName) -> System:
    """The system function of this name.

    Raises:
        InvalidInput: this version has no such system.
    """
    system = SYSTEMS.get(name)
    if system is None:
        raise InvalidInput(f"the system {name.value!r} is not available yet; choose one of {', '.join(SYSTEMS)}")
    return system
