"""The parts of quotas: what an organisation and its keys may use, and have used."""
