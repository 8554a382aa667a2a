"""The agents of each research system that asks a model. All systems are worked by the same chain, `minddr.research`.

MaMs, ReAct and DeepRubric's agent are that chain with one part: the question. All their work is one search, whose finding holds
the report; so they share stages, budget, evidence, steering and checks with the chain, and differ in their agents only.
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
