"""What the recipes of reinforcement learning have in common: configuration, rollouts, training, the best checkpoint."""
