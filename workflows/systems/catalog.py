"""The research systems by name: the function that asks for stages. `agent_sets.py` has the agents that work them.

MaMs, ReAct and DeepRubric's agent are the chain with one part: the question. All their work is one search, whose finding holds
the report; so they share stages, budget, evidence, steering and checks with the chain, and differ in their agents only.
"""

from app.domain.query import SystemName
from workflows.systems import minddr
from workflows.systems.stages import System

SYSTEMS: dict[SystemName, System] = dict.fromkeys(SystemName, minddr.research)


def system_named(name: SystemName) -> System:
    """The system function of this name."""
    return SYSTEMS[name]
