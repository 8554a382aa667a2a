"""Who asks: people, organisations, sessions, keys and teams."""
