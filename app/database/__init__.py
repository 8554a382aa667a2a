"""PostgreSQL: connections, tenancy, roles, and the tables."""
