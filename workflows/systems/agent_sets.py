"""The agents of each research system that asks a model."""

from app.domain.query import SystemName
from workflows.agents.agent_set import AgentSet
from workflows.agents.markov import MARKOV
from workflows.agents.model_driven import MODEL_DRIVEN
from workflows.agents.react import DEEPRUBRIC, REACT

AGENTS: dict[SystemName, AgentSet] = {
    SystemName.MINDDR: MODEL_DRIVEN,
    SystemName.MAMS: MARKOV,
    SystemName.REACT: REACT,
    SystemName.DEEPRUBRIC: DEEPRUBRIC,
}
