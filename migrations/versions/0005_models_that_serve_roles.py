"""Served models with their aliases, versions of trained models, canaries, and cycles of retraining."""

import sqlalchemy as sa
from alembic import op

from migrations.tenancy import protect_table

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None

READ_BY_ALL = ("model_versions", "served_models", "model_aliases", "canaries")
OF_WORKERS = (
    *("alias_moves", "device_leases", "retraining_cycles", "cycle_events", "cycle_steps"),
    *("role_holds", "version_evaluations", "version_pairs", "version_states"),
)


def upgrade() -> None:
    op.create_table(
        "alias_moves",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=True), nullable=False),
        sa.Column("role", sa.Text(), nullable=False),
        sa.Column("came_from", sa.Text(), server_default="", nullable=False),
        sa.Column("went_to", sa.Text(), nullable=False),
        sa.Column("by", sa.Text(), nullable=False),
        sa.Column("why", sa.Text(), server_default="", nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.CheckConstraint("role IN ('planner', 'searcher', 'writer', 'rubric', 'judge')", name="alias_moves_role"),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("alias_moves_of_role", "alias_moves", ["role", "id"], unique=False)
    op.create_table(
        "device_leases",
        sa.Column("device", sa.Text(), nullable=False),
        sa.Column("holder", sa.Text(), nullable=False),
        sa.Column("purpose", sa.Text(), nullable=False),
        sa.Column("ends_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("device"),
    )
    op.create_table(
        "retraining_cycles",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("plan", sa.JSON(), nullable=False),
        sa.Column("folder", sa.Text(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("wish", sa.Text(), server_default="go", nullable=False),
        sa.Column("approved", sa.ARRAY(sa.Text()), server_default="{}", nullable=False),
        sa.Column("detail", sa.Text(), server_default="", nullable=False),
        sa.Column("asked_by", sa.Text(), nullable=False),
        sa.Column("last_seq", sa.BigInteger(), server_default=sa.text("0"), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("ended_at", sa.DateTime(timezone=True), nullable=True),
        sa.CheckConstraint(
            "state IN ('running', 'waiting', 'paused', 'promoted', 'refused', 'lacking', 'stopped', 'failed')",
            name="retraining_cycles_state",
        ),
        sa.CheckConstraint("wish IN ('go', 'pause', 'stop_after', 'stop')", name="retraining_cycles_wish"),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_table(
        "cycle_events",
        sa.Column("cycle_id", sa.Uuid(), nullable=False),
        sa.Column("seq", sa.BigInteger(), nullable=False),
        sa.Column("type", sa.Text(), nullable=False),
        sa.Column("payload", sa.JSON(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.ForeignKeyConstraint(["cycle_id"], ["retraining_cycles.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("cycle_id", "seq"),
    )
    op.create_table(
        "cycle_steps",
        sa.Column("cycle_id", sa.Uuid(), nullable=False),
        sa.Column("step", sa.Text(), nullable=False),
        sa.Column("attempt", sa.Integer(), server_default=sa.text("0"), nullable=False),
        sa.Column("folder", sa.Text(), server_default="", nullable=False),
        sa.Column("outcome", sa.JSON(), nullable=True),
        sa.Column("started_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("ended_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(["cycle_id"], ["retraining_cycles.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("cycle_id", "step"),
    )
    op.create_table(
        "model_versions",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("role", sa.Text(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("parent", sa.Uuid(), nullable=True),
        sa.Column("recipe", sa.Text(), server_default="", nullable=False),
        sa.Column("configuration", sa.JSON(), nullable=False),
        sa.Column("build", sa.Text(), server_default="", nullable=False),
        sa.Column("sets", sa.JSON(), nullable=False),
        sa.Column("artifact", sa.Text(), nullable=False),
        sa.Column("base", sa.Text(), nullable=False),
        sa.Column("notation", sa.Text(), nullable=False),
        sa.Column("licence", sa.Text(), server_default="", nullable=False),
        sa.Column("cycle", sa.Uuid(), nullable=True),
        sa.Column("on_erasure", sa.Text(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.CheckConstraint("notation IN ('schema', 'tags')", name="model_versions_notation"),
        sa.CheckConstraint("on_erasure IN ('keep', 'retrain', 'withdraw')", name="model_versions_on_erasure"),
        sa.CheckConstraint("role IN ('planner', 'searcher', 'writer', 'rubric', 'judge')", name="model_versions_role"),
        sa.CheckConstraint(
            "state IN ('candidate', 'refused', 'canary', 'serving', 'retired', 'withdrawn')", name="model_versions_state"
        ),
        sa.ForeignKeyConstraint(["cycle"], ["retraining_cycles.id"], ondelete="SET NULL"),
        sa.ForeignKeyConstraint(
            ["parent"],
            ["model_versions.id"],
        ),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("role", "number", name="model_versions_numbered"),
    )
    op.create_index(
        "model_versions_serving", "model_versions", ["role"], unique=True, postgresql_where=sa.text("state = 'serving'")
    )
    op.create_table(
        "served_models",
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("address", sa.Text(), nullable=False),
        sa.Column("key_setting", sa.Text(), server_default="", nullable=False),
        sa.Column("notation", sa.Text(), nullable=False),
        sa.Column("template", sa.Text(), server_default="", nullable=False),
        sa.Column("context", sa.Integer(), server_default=sa.text("0"), nullable=False),
        sa.Column("temperature", sa.Float(), nullable=True),
        sa.Column("top_p", sa.Float(), nullable=True),
        sa.Column("input_price", sa.Numeric(), server_default=sa.text("0"), nullable=False),
        sa.Column("output_price", sa.Numeric(), server_default=sa.text("0"), nullable=False),
        sa.Column("adapter", sa.Text(), server_default="", nullable=False),
        sa.Column("base", sa.Text(), server_default="", nullable=False),
        sa.Column("version", sa.Uuid(), nullable=True),
        sa.Column("added_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("gone_at", sa.DateTime(timezone=True), nullable=True),
        sa.CheckConstraint("notation IN ('schema', 'tags')", name="served_models_notation"),
        sa.ForeignKeyConstraint(["version"], ["model_versions.id"], ondelete="SET NULL"),
        sa.PrimaryKeyConstraint("name"),
    )
    op.create_table(
        "version_evaluations",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=True), nullable=False),
        sa.Column("version_id", sa.Uuid(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("figures", sa.JSON(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.CheckConstraint("kind IN ('training', 'gate', 'evaluation', 'canary', 'erasure')", name="version_evaluations_kind"),
        sa.ForeignKeyConstraint(["version_id"], ["model_versions.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("version_evaluations_of_version", "version_evaluations", ["version_id", "id"], unique=False)
    op.create_table(
        "version_pairs",
        sa.Column("version_id", sa.Uuid(), nullable=False),
        sa.Column("pair", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["version_id"], ["model_versions.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("version_id", "pair"),
    )
    op.create_index("version_pairs_by_pair", "version_pairs", ["pair"], unique=False)
    op.create_table(
        "version_states",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=True), nullable=False),
        sa.Column("version_id", sa.Uuid(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("by", sa.Text(), nullable=False),
        sa.Column("why", sa.Text(), server_default="", nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.CheckConstraint(
            "state IN ('candidate', 'refused', 'canary', 'serving', 'retired', 'withdrawn')", name="version_states_state"
        ),
        sa.ForeignKeyConstraint(["version_id"], ["model_versions.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("version_states_of_version", "version_states", ["version_id", "id"], unique=False)
    op.create_table(
        "canaries",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("version", sa.Uuid(), nullable=False),
        sa.Column("role", sa.Text(), nullable=False),
        sa.Column("served", sa.Text(), nullable=False),
        sa.Column("share", sa.Float(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("why", sa.Text(), server_default="", nullable=False),
        sa.Column("started_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("ended_at", sa.DateTime(timezone=True), nullable=True),
        sa.CheckConstraint("role IN ('planner', 'searcher', 'writer', 'rubric', 'judge')", name="canaries_role"),
        sa.CheckConstraint("state IN ('running', 'promoted', 'rolled_back', 'stopped')", name="canaries_state"),
        sa.CheckConstraint("share > 0 AND share <= 1", name="canaries_share"),
        sa.ForeignKeyConstraint(
            ["served"],
            ["served_models.name"],
        ),
        sa.ForeignKeyConstraint(["version"], ["model_versions.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("canaries_running", "canaries", ["role"], unique=True, postgresql_where=sa.text("state = 'running'"))
    op.create_table(
        "model_aliases",
        sa.Column("role", sa.Text(), nullable=False),
        sa.Column("served", sa.Text(), nullable=False),
        sa.Column("of_settings", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        sa.Column("since", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.CheckConstraint("role IN ('planner', 'searcher', 'writer', 'rubric', 'judge')", name="model_aliases_role"),
        sa.ForeignKeyConstraint(
            ["served"],
            ["served_models.name"],
        ),
        sa.PrimaryKeyConstraint("role"),
    )
    op.create_table(
        "role_holds",
        sa.Column("role", sa.Text(), nullable=False),
        sa.Column("by", sa.Text(), nullable=False),
        sa.Column("why", sa.Text(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.CheckConstraint("role IN ('planner', 'searcher', 'writer', 'rubric', 'judge')", name="role_holds_role"),
        sa.PrimaryKeyConstraint("role"),
    )
    for table in READ_BY_ALL:
        protect_table(op, table, "SELECT", "true")
    for table in OF_WORKERS:
        protect_table(op, table, "", "false")


def downgrade() -> None:
    op.drop_table("role_holds")
    op.drop_table("model_aliases")
    op.drop_table("canaries")
    op.drop_table("version_states")
    op.drop_table("version_pairs")
    op.drop_table("version_evaluations")
    op.drop_table("served_models")
    op.drop_table("model_versions")
    op.drop_table("cycle_steps")
    op.drop_table("cycle_events")
    op.drop_table("retraining_cycles")
    op.drop_table("device_leases")
    op.drop_table("alias_moves")
