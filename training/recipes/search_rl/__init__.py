"""Search-RL (MindDR 5.2): the search agent learns from its calls, its form, the entities it meets and its answer."""
