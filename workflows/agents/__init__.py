"""Agents: pure orchestration over the seams in `ports`; no framework, no HTTP, no database, no clock."""
