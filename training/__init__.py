"""How models become better: data synthesis, rollouts, rewards, recipes, evaluation and the registry of models."""
