"""Research systems: what is asked of which agent, in which order. Deterministic; where a stage runs is a parameter."""
