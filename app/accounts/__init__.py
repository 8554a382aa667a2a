"""The parts of accounts: people, organisations, sessions, keys and teams."""
