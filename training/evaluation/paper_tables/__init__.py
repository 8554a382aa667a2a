"""The tables and figures of the three papers, filled by any evaluated runs."""
