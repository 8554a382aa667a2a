"""The agents of each research system that asks a model. The same chain, `minddr.research`, runs all systems.

MaMs, ReAct and DeepRubric's agent are that chain with a plan of one part: the question. All their work is one search, and its
finding holds the report. So they share stages, budget, evidence, steering and checks with the chain; only their agents differ.
"""

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
