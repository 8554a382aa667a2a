"""Comparisons of reports, choices and other feedback, consent, annotation."""

from pathlib import Path

import sqlalchemy as sa
from alembic import op

from app.database.role_names import API_ROLE
from migrations.tenancy import organisation_column, protect

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None

FUNCTION = Path(__file__).parents[1] / "sql" / "0010_preferences.sql"
ORIGINS = ("delivered", "edited", "rewritten", "deepened", "reverted")
TABLES = (
    *("comparisons", "candidates", "viewings", "choices", "ratings", "claim_flags"),
    *("organisation_consents", "person_consents", "writer_defaults", "annotation_tasks", "assignments"),
)


def upgrade() -> None:
    op.add_column("runs", sa.Column("made_for", sa.Uuid(), sa.ForeignKey("runs.id", ondelete="CASCADE"), nullable=True))
    op.create_index("runs_made_for", "runs", ["made_for"])
    _comparisons()
    _feedback()
    _annotation()
    for table in TABLES:
        protect(op, table)
    _allow_origins((*ORIGINS, "chosen"))
    # Who asked for a change of a report: their consent decides whether training may learn from it.
    editor = sa.text("nullif(current_setting('rubrica.user', true), '')::uuid")
    op.add_column(
        "report_tasks",
        sa.Column("created_by", sa.Uuid(), sa.ForeignKey("users.id", ondelete="SET NULL"), server_default=editor, nullable=True),
    )
    # A second candidate begins with the evidence of the first.
    op.execute(f"GRANT INSERT ON stages TO {API_ROLE}")
    script = FUNCTION.read_text()
    op.get_bind().connection.dbapi_connection.run_async(lambda connection: connection.execute(script))  # type: ignore[union-attr]


def _allow_origins(origins: tuple[str, ...]) -> None:
    op.drop_constraint("report_versions_origin", "report_versions", type_="check")
    op.create_check_constraint("report_versions_origin", "report_versions", f"origin IN ({', '.join(map(repr, origins))})")


def _comparisons() -> None:
    op.create_table(
        "comparisons",
        sa.Column("id", sa.Uuid(), primary_key=True),
        organisation_column(),
        _uuid("run_id", "runs.id"),
        _uuid("made_run_id", "runs.id"),
        _author("created_by"),
        _text("evidence_digest"),
        _text("failure", ""),
        _now("created_at"),
    )
    op.execute("CREATE INDEX comparisons_newest_first ON comparisons (organisation_id, created_at DESC, id DESC)")
    op.create_index("comparisons_of_run", "comparisons", ["run_id"])
    op.create_index("comparisons_of_made_run", "comparisons", ["made_run_id"])
    op.create_table(
        "candidates",
        _uuid("comparison_id", "comparisons.id", primary_key=True),
        sa.Column("place", sa.Text(), primary_key=True),
        organisation_column(),
        *(_text("digest"), _text("title"), _text("markdown"), _json("shown"), _json("report"), _json("lineage")),
        sa.Column("tokens", sa.BigInteger(), nullable=False),
        sa.Column("cost_microusd", sa.BigInteger(), nullable=False),
    )
    op.create_table(
        "viewings",
        _uuid("comparison_id", "comparisons.id", primary_key=True),
        _uuid("user_id", "users.id", primary_key=True),
        organisation_column(),
        _text("left_place"),
        _now("first_viewed_at"),
        sa.Column("revealed_at", sa.DateTime(timezone=True), nullable=True),
    )
    op.create_index("viewings_of_user", "viewings", ["user_id"])
    op.create_table(
        "choices",
        sa.Column("comparison_id", sa.Uuid(), primary_key=True),
        sa.Column("user_id", sa.Uuid(), primary_key=True),
        organisation_column(),
        *(_json("choice"), _text("outcome")),
        sa.Column("annotation", sa.Boolean(), server_default="false", nullable=False),
        sa.Column("elapsed_seconds", sa.Float(), nullable=False),
        *(_now("made_at"), _now("changed_at")),
        sa.Column("changes", sa.Integer(), server_default=sa.text("0"), nullable=False),
        sa.ForeignKeyConstraint(["comparison_id", "user_id"], ["viewings.comparison_id", "viewings.user_id"], ondelete="CASCADE"),
    )


def _feedback() -> None:
    op.create_table(
        "ratings",
        _uuid("run_id", "runs.id", primary_key=True),
        _uuid("user_id", "users.id", primary_key=True),
        organisation_column(),
        sa.Column("stars", sa.SmallInteger(), nullable=False),
        *(_text("comment", ""), _text("report_digest"), _now("made_at")),
    )
    op.create_index("ratings_of_user", "ratings", ["user_id"])
    op.create_table(
        "claim_flags",
        _uuid("run_id", "runs.id", primary_key=True),
        sa.Column("claim", sa.Integer(), primary_key=True),
        _uuid("user_id", "users.id", primary_key=True),
        organisation_column(),
        *(_text("reason"), _text("claim_text"), _text("report_digest"), _now("made_at")),
    )
    op.create_index("claim_flags_of_user", "claim_flags", ["user_id"])
    one = sa.PrimaryKeyConstraint("organisation_id")
    op.create_table("organisation_consents", organisation_column(), _author("given_by"), _now("since"), one)
    op.create_table(
        "person_consents",
        *(organisation_column(), _uuid("user_id", "users.id"), _now("since")),
        sa.PrimaryKeyConstraint("organisation_id", "user_id"),
    )
    one = sa.PrimaryKeyConstraint("organisation_id")
    op.create_table("writer_defaults", organisation_column(), _json("writer"), _author("set_by"), _now("set_at"), one)
    op.create_index("person_consents_of_user", "person_consents", ["user_id"])


def _annotation() -> None:
    op.create_table(
        "annotation_tasks",
        _uuid("comparison_id", "comparisons.id", primary_key=True),
        organisation_column(),
        sa.Column("overlap", sa.SmallInteger(), nullable=False),
        sa.Column("gold", sa.Text(), nullable=True),
        _author("created_by"),
        _now("created_at"),
    )
    op.create_table(
        "assignments",
        sa.Column("id", sa.Uuid(), primary_key=True),
        _uuid("comparison_id", "annotation_tasks.comparison_id"),
        _uuid("user_id", "users.id"),
        organisation_column(),
        _now("assigned_at"),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("finished_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("skipped", sa.Text(), nullable=True),
    )
    op.create_index("assignments_once", "assignments", ["comparison_id", "user_id"], unique=True)
    op.create_index("assignments_of_user", "assignments", ["user_id"])


def _uuid(name: str, of: str, primary_key: bool = False) -> sa.Column[object]:
    return sa.Column(name, sa.Uuid(), sa.ForeignKey(of, ondelete="CASCADE"), primary_key=primary_key, nullable=False)


def _author(name: str) -> sa.Column[object]:
    return sa.Column(name, sa.Uuid(), sa.ForeignKey("users.id", ondelete="SET NULL"), nullable=True)


def _text(name: str, default: str | None = None) -> sa.Column[str]:
    return sa.Column(name, sa.Text(), server_default=default, nullable=False)


def _json(name: str) -> sa.Column[object]:
    return sa.Column(name, sa.JSON(), nullable=False)


def _now(name: str) -> sa.Column[object]:
    return sa.Column(name, sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False)


def downgrade() -> None:
    op.execute("ALTER TABLE report_versions NO FORCE ROW LEVEL SECURITY")
    op.execute("UPDATE report_versions SET origin = 'rewritten' WHERE origin = 'chosen'")
    op.execute("ALTER TABLE report_versions FORCE ROW LEVEL SECURITY")
    _allow_origins(ORIGINS)
    op.drop_column("report_tasks", "created_by")
    op.execute("DROP FUNCTION create_candidate")
    op.execute(f"REVOKE INSERT ON stages FROM {API_ROLE}")
    for table in reversed(TABLES):
        op.drop_table(table)
    op.drop_index("runs_made_for", table_name="runs")
    op.drop_column("runs", "made_for")
