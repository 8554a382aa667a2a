"""The schema revision this code works with. A test keeps it equal to the newest migration."""

SCHEMA_REVISION = "0001"
