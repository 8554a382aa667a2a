"""The statements of fleets."""
