"""Describes a database's schema: one text for each thing, sorted, so that two schemas compare as lists."""

import asyncpg

COLUMNS = """
    SELECT format('column %s.%s %s%s default %s', c.relname, a.attname, format_type(a.atttypid, a.atttypmod),
                  CASE WHEN a.attnotnull THEN ' not null' ELSE '' END, coalesce(pg_get_expr(d.adbin, d.adrelid), 'none'))
    FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid LEFT JOIN pg_attrdef d ON d.adrelid = c.oid AND d.adnum = a.attnum
    WHERE c.relnamespace = $1::regnamespace AND c.relkind = 'r' AND a.attnum > 0 AND NOT a.attisdropped"""
TABLES = """
    SELECT format('table %s persistence %s options %s row security %s forced %s', relname, relpersistence, reloptions,
                  relrowsecurity, relforcerowsecurity)
    FROM pg_class WHERE relnamespace = $1::regnamespace AND relkind IN ('r', 'v', 'm', 'f', 'p')"""
INDEXES = """
    SELECT pg_get_indexdef(i.indexrelid) FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
    WHERE c.relnamespace = $1::regnamespace"""
CONSTRAINTS = """
    SELECT format('constraint %s.%s %s', c.relname, k.conname, pg_get_constraintdef(k.oid))
    FROM pg_constraint k JOIN pg_class c ON c.oid = k.conrelid WHERE k.connamespace = $1::regnamespace"""
POLICIES = """
    SELECT format('policy %s on %s for %s to %s permissive %s using %s check %s', p.polname, c.relname, p.polcmd, r.rolname,
                  p.polpermissive, pg_get_expr(p.polqual, p.polrelid), pg_get_expr(p.polwithcheck, p.polrelid))
    FROM pg_policy p JOIN pg_class c ON c.oid = p.polrelid JOIN pg_roles r ON r.oid = ANY (p.polroles)
    WHERE c.relnamespace = $1::regnamespace"""
GRANTS = """
    SELECT format('grant %s on %s to %s', g.privilege_type, c.relname, g.grantee::regrole)
    FROM pg_class c, aclexplode(c.relacl) g WHERE c.relnamespace = $1::regnamespace
    UNION ALL
    SELECT format('grant %s on %s.%s to %s', g.privilege_type, c.relname, a.attname, g.grantee::regrole)
    FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid, aclexplode(a.attacl) g WHERE c.relnamespace = $1::regnamespace"""
FUNCTIONS = """
    SELECT pg_get_functiondef(oid) FROM pg_proc WHERE pronamespace = $1::regnamespace
    UNION ALL
    SELECT pg_get_triggerdef(t.oid) FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid
    WHERE c.relnamespace = $1::regnamespace AND NOT t.tgisinternal"""


async def describe_schema(connection: asyncpg.Connection, schema: str) -> list[str]:
    """Describe everything in one schema, in PostgreSQL's words without the schema's name. Alembic's table is left out."""
    await connection.execute(f"SET search_path = {schema}, public")
    found = [
        row[0].replace(f"{schema}.", "")
        for query in (COLUMNS, TABLES, INDEXES, CONSTRAINTS, POLICIES, GRANTS, FUNCTIONS)
        for row in await connection.fetch(query, schema)
    ]
    return sorted(line for line in found if "alembic_version" not in line)
