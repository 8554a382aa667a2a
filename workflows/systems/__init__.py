"""Research systems: which agent is asked for what, in which order. They are deterministic; where a stage runs is a parameter."""
