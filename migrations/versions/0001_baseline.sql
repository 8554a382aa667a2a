-- The tables of revision 0001, each after those that it names. Like every migration this stays as it is:
-- what the tables are now stands in app/database/tables.

CREATE TABLE oidc_flows (
    state_hash BYTEA NOT NULL,
    nonce TEXT NOT NULL,
    verifier TEXT NOT NULL,
    expires_at timestamptz NOT NULL,
    PRIMARY KEY (state_hash)
);

CREATE TABLE organisations (
    id UUID NOT NULL,
    name TEXT NOT NULL,
    created_at timestamptz DEFAULT now() NOT NULL,
    PRIMARY KEY (id)
);

CREATE TABLE outside_counts (
    day DATE NOT NULL,
    organisation_id UUID NOT NULL,
    tool TEXT NOT NULL,
    outcome TEXT NOT NULL,
    within_ms INTEGER NOT NULL,
    n BIGINT NOT NULL,
    PRIMARY KEY (day, organisation_id, tool, outcome, within_ms)
);

CREATE UNLOGGED TABLE outside_limits (
    lane TEXT NOT NULL,
    next_at timestamptz NOT NULL,
    PRIMARY KEY (lane)
) WITH (fillfactor = 20);

CREATE UNLOGGED TABLE outside_results (
    key TEXT NOT NULL,
    body BYTEA,
    fetched_at timestamptz,
    claimed_until timestamptz,
    PRIMARY KEY (key)
);

CREATE TABLE outside_texts (
    hash TEXT NOT NULL,
    body BYTEA NOT NULL,
    fetched_at timestamptz DEFAULT now() NOT NULL,
    PRIMARY KEY (hash)
);

CREATE UNLOGGED TABLE rate_buckets (
    subject TEXT NOT NULL,
    full_at timestamptz NOT NULL,
    PRIMARY KEY (subject)
) WITH (fillfactor = 20);

CREATE TABLE snapshots (
    hash TEXT NOT NULL,
    body BYTEA NOT NULL,
    first_seen timestamptz DEFAULT now() NOT NULL,
    PRIMARY KEY (hash)
);

CREATE TABLE users (
    id UUID NOT NULL,
    email TEXT NOT NULL,
    name TEXT DEFAULT '' NOT NULL,
    password_hash TEXT,
    created_at timestamptz DEFAULT now() NOT NULL,
    verified_at timestamptz,
    PRIMARY KEY (id),
    CONSTRAINT users_email UNIQUE (email)
);

CREATE TABLE address_tokens (
    token_hash BYTEA NOT NULL,
    user_id UUID NOT NULL,
    purpose TEXT NOT NULL,
    expires_at timestamptz NOT NULL,
    PRIMARY KEY (token_hash),
    CONSTRAINT address_tokens_purpose CHECK (purpose IN ('verify', 'reset')),
    FOREIGN KEY(user_id) REFERENCES users (id) ON DELETE CASCADE
);

CREATE INDEX address_tokens_of_user ON address_tokens (user_id, purpose);

CREATE TABLE audit (
    id UUID DEFAULT gen_random_uuid() NOT NULL,
    organisation_id UUID DEFAULT current_organisation() NOT NULL,
    at timestamptz DEFAULT clock_timestamp() NOT NULL,
    user_id UUID,
    key_id UUID,
    address TEXT DEFAULT '' NOT NULL,
    action TEXT NOT NULL,
    subject TEXT DEFAULT '' NOT NULL,
    detail JSON NOT NULL,
    PRIMARY KEY (id),
    FOREIGN KEY(organisation_id) REFERENCES organisations (id) ON DELETE CASCADE,
    FOREIGN KEY(user_id) REFERENCES users (id) ON DELETE SET NULL
);
CREATE INDEX audit_newest_first ON audit (organisation_id, at DESC, id DESC);

CREATE TABLE collections (
    id UUID NOT NULL,
    organisation_id UUID DEFAULT current_organisation() NOT NULL,
    name TEXT NOT NULL,
    everyone BOOLEAN NOT NULL,
    users UUID[] DEFAULT '{}' NOT NULL,
    roles TEXT[] DEFAULT '{}' NOT NULL,
    created_by UUID DEFAULT (NULLIF(current_setting('rubrica.user'::text, true), ''::text))::uuid,
    created_at timestamptz DEFAULT now() NOT NULL,
    deleted_at timestamptz,
    PRIMARY KEY (id),
    CONSTRAINT collections_in_organisation UNIQUE (organisation_id, id),
    FOREIGN KEY(organisation_id) REFERENCES organisations (id) ON DELETE CASCADE,
    FOREIGN KEY(created_by) REFERENCES users (id) ON DELETE SET NULL
);
CREATE UNIQUE INDEX collections_by_name ON collections (organisation_id, name) WHERE deleted_at IS NULL;
CREATE INDEX collections_newest_first ON collections (organisation_id, created_at DESC, id DESC);

CREATE TABLE drafts (
    id UUID NOT NULL,
    organisation_id UUID DEFAULT current_organisation() NOT NULL,
    kind TEXT NOT NULL,
    question TEXT NOT NULL,
    body JSON NOT NULL,
    model TEXT DEFAULT '' NOT NULL,
    input_tokens BIGINT DEFAULT 0 NOT NULL,
    output_tokens BIGINT DEFAULT 0 NOT NULL,
    cost_microusd BIGINT DEFAULT 0 NOT NULL,
    created_with UUID DEFAULT (NULLIF(current_setting('rubrica.key'::text, true), ''::text))::uuid,
    created_at timestamptz DEFAULT now() NOT NULL,
    PRIMARY KEY (id),
    FOREIGN KEY(organisation_id) REFERENCES organisations (id) ON DELETE CASCADE
);
CREATE INDEX drafts_of_organisation ON drafts (organisation_id, created_at);

CREATE TABLE fleets (
    id UUID NOT NULL,
    organisation_id UUID DEFAULT current_organisation() NOT NULL,
    at_once INTEGER NOT NULL,
    wish TEXT DEFAULT 'go' NOT NULL,
    gathered BOOLEAN DEFAULT 'false' NOT NULL,
    questions BIGINT DEFAULT 0 NOT NULL,
    ended BIGINT DEFAULT 0 NOT NULL,
    revision BIGINT DEFAULT 0 NOT NULL,
    detail TEXT DEFAULT '' NOT NULL,
    created_by UUID DEFAULT (NULLIF(current_setting('rubrica.user'::text, true), ''::text))::uuid,
    created_at timestamptz DEFAULT now() NOT NULL,
    ended_at timestamptz,
    PRIMARY KEY (id),
    CONSTRAINT fleets_in_organisation UNIQUE (organisation_id, id),
    CONSTRAINT fleets_wish CHECK (wish IN ('go', 'pause', 'cancel')),
    FOREIGN KEY(organisation_id) REFERENCES organisations (id) ON DELETE CASCADE,
    FOREIGN KEY(created_by) REFERENCES users (id) ON DELETE SET NULL
);
CREATE INDEX fleets_unfinished ON fleets (id) WHERE ended_at IS NULL;

CREATE TABLE idempotency_keys (
    organisation_id UUID DEFAULT current_organisation() NOT NULL,
    owner_id UUID NOT NULL,
    key TEXT NOT NULL,
    digest BYTEA NOT NULL,
    state TEXT DEFAULT 'working' NOT NULL,
    status INTEGER,
    headers TEXT,
    body BYTEA,
    claimed_at timestamptz DEFAULT now() NOT NULL,
    PRIMARY KEY (organisation_id, owner_id, key),
    FOREIGN KEY(organisation_id) REFERENCES organisations (id) ON DELETE CASCADE
);
CREATE INDEX idempotency_keys_by_age ON idempotency_keys (claimed_at);

CREATE TABLE identities (
    issuer TEXT NOT NULL,
    subject TEXT NOT NULL,
    user_id UUID NOT NULL,
    created_at timestamptz DEFAULT now() NOT NULL,
    PRIMARY KEY (issuer, subject),
    FOREIGN KEY(user_id) REFERENCES users (id) ON DELETE CASCADE
);
CREATE INDEX identities_of_user ON identities (user_id);

CREATE TABLE invitations (
    id UUID NOT NULL,
    organisation_id UUID DEFAULT current_organisation() NOT NULL,
    email TEXT NOT NULL,
    role TEXT NOT NULL,
    token_hash BYTEA NOT NULL,
    invited_by UUID,
    created_at timestamptz DEFAULT now() NOT NULL,
    expires_at timestamptz NOT NULL,
    mailed BOOLEAN DEFAULT false NOT NULL,
    PRIMARY KEY (id),
    CONSTRAINT invitations_role CHECK (role IN ('owner', 'admin', 'member', 'viewer')),
    CONSTRAINT invitations_token UNIQUE (token_hash),
    CONSTRAINT invitations_email UNIQUE (organisation_id, email),
    FOREIGN KEY(organisation_id) REFERENCES organisations (id) ON DELETE CASCADE,
    FOREIGN KEY(invited_by) REFERENCES users (id) ON DELETE SET NULL
);

CREATE TABLE memberships (
    organisation_id UUID DEFAULT current_organisation() NOT NULL,
    user_id UUID NOT NULL,
    role TEXT NOT NULL,
    joined_at timestamptz DEFAULT now() NOT NULL,
    PRIMARY KEY (organisation_id, user_id),
    CONSTRAINT memberships_role CHECK (role IN ('owner', 'admin', 'member', 'viewer')),
    FOREIGN KEY(organisation_id) REFERENCES organisations (id) ON DELETE CASCADE,
    FOREIGN KEY(user_id) REFERENCES users (id) ON DELETE CASCADE
);
CREATE INDEX memberships_of_user ON memberships (user_id);

CREATE TABLE organisation_consents (
    organisation_id UUID DEFAULT current_organisation() NOT NULL,
    given_by UUID,
    since timestamptz DEFAULT now() NOT NULL,
    PRIMARY KEY (organisation_id),
    FOREIGN KEY(organisation_id) REFERENCES organisations (id) ON DELETE CASCADE,
    FOREIGN KEY(given_by) REFERENCES users (id) ON DELETE SET NULL
);

CREATE TABLE past_spending (
    id UUID DEFAULT gen_random_uuid() NOT NULL,
    organisation_id UUID DEFAULT current_organisation() NOT NULL,
    run_began_at timestamptz NOT NULL,
    run_began_with UUID,
    asked_at timestamptz,
    asked_with UUID,
    input_tokens BIGINT NOT NULL,
    output_tokens BIGINT NOT NULL,
    cost_microusd BIGINT NOT NULL,
    PRIMARY KEY (id),
    FOREIGN KEY(organisation_id) REFERENCES organisations (id) ON DELETE CASCADE
);
CREATE INDEX past_spending_of_organisation ON past_spending (organisation_id, run_began_at);

CREATE TABLE person_consents (
    organisation_id UUID DEFAULT current_organisation() NOT NULL,
    user_id UUID NOT NULL,
    since timestamptz DEFAULT now() NOT NULL,
    PRIMARY KEY (organisation_id, user_id),
    FOREIGN KEY(organisation_id) REFERENCES organisations (id) ON DELETE CASCADE,
    FOREIGN KEY(user_id) REFERENCES users (id) ON DELETE CASCADE
);
CREATE INDEX person_consents_of_user ON person_consents (user_id);

CREATE TABLE quotas (
    organisation_id UUID DEFAULT current_organisation() NOT NULL,
    subject UUID NOT NULL,
    requests_per_minute BIGINT,
    concurrent_runs BIGINT,
    tokens_per_month BIGINT,
    cost_microusd_per_month BIGINT,
    PRIMARY KEY (organisation_id, subject),
    FOREIGN KEY(organisation_id) REFERENCES organisations (id) ON DELETE CASCADE
);

CREATE TABLE retentions (
    organisation_id UUID DEFAULT current_organisation() NOT NULL,
    runs_days INTEGER,
    events_days INTEGER,
    tool_results_days INTEGER,
    feedback_days INTEGER,
    PRIMARY KEY (organisation_id),
    FOREIGN KEY(organisation_id) REFERENCES organisations (id) ON DELETE CASCADE
);

CREATE TABLE webhooks (
    id UUID NOT NULL,
    organisation_id UUID DEFAULT current_organisation() NOT NULL,
    url TEXT NOT NULL,
    description TEXT DEFAULT '' NOT NULL,
    events TEXT[] DEFAULT '{}' NOT NULL,
    secret TEXT NOT NULL,
    previous_secret TEXT,
    previous_until timestamptz,
    enabled BOOLEAN DEFAULT 'true' NOT NULL,
    disabled_reason TEXT DEFAULT '' NOT NULL,
    failing_since timestamptz,
    created_at timestamptz DEFAULT now() NOT NULL,
    PRIMARY KEY (id),
    CONSTRAINT webhooks_in_organisation UNIQUE (organisation_id, id),
    FOREIGN KEY(organisation_id) REFERENCES organisations (id) ON DELETE CASCADE
);
CREATE INDEX webhooks_of_organisation ON webhooks (organisation_id, created_at);

CREATE TABLE writer_defaults (
    organisation_id UUID DEFAULT current_organisation() NOT NULL,
    writer JSON NOT NULL,
    set_by UUID,
    set_at timestamptz DEFAULT now() NOT NULL,
    PRIMARY KEY (organisation_id),
    FOREIGN KEY(organisation_id) REFERENCES organisations (id) ON DELETE CASCADE,
    FOREIGN KEY(set_by) REFERENCES users (id) ON DELETE SET NULL
);

CREATE TABLE api_keys (
    id UUID NOT NULL,
    organisation_id UUID DEFAULT current_organisation() NOT NULL,
    user_id UUID NOT NULL,
    name TEXT NOT NULL,
    secret_hash BYTEA NOT NULL,
    scopes TEXT[] NOT NULL,
    created_at timestamptz DEFAULT now() NOT NULL,
    expires_at timestamptz,
    revoked_at timestamptz,
    last_used_at timestamptz,
    made_by UUID DEFAULT (NULLIF(current_setting('rubrica.key', true), ''))::uuid,
    PRIMARY KEY (id),
    FOREIGN KEY(organisation_id, user_id) REFERENCES memberships (organisation_id, user_id) ON DELETE CASCADE,
    FOREIGN KEY(organisation_id) REFERENCES organisations (id) ON DELETE CASCADE
);
CREATE INDEX api_keys_of_organisation ON api_keys (organisation_id, user_id);

CREATE TABLE collection_documents (
    id UUID NOT NULL,
    organisation_id UUID DEFAULT current_organisation() NOT NULL,
    collection_id UUID NOT NULL,
    name TEXT NOT NULL,
    bytes BIGINT NOT NULL,
    state TEXT DEFAULT 'received' NOT NULL,
    detail TEXT DEFAULT '' NOT NULL,
    snapshot TEXT DEFAULT '' NOT NULL,
    characters BIGINT DEFAULT 0 NOT NULL,
    received_at timestamptz DEFAULT now() NOT NULL,
    deleted_at timestamptz,
    PRIMARY KEY (id),
    FOREIGN KEY(organisation_id, collection_id) REFERENCES collections (organisation_id, id) ON DELETE CASCADE,
    CONSTRAINT collection_documents_state CHECK (state IN ('received', 'parsed', 'indexed', 'failed', 'deleting')),
    FOREIGN KEY(organisation_id) REFERENCES organisations (id) ON DELETE CASCADE
);
CREATE UNIQUE INDEX collection_documents_by_name ON collection_documents (collection_id, name) WHERE deleted_at IS NULL;
CREATE INDEX collection_documents_by_snapshot ON collection_documents (snapshot);
CREATE INDEX collection_documents_newest_first ON collection_documents (collection_id, received_at DESC, id DESC);
CREATE INDEX collection_documents_unsettled ON collection_documents (collection_id) WHERE state NOT IN ('indexed', 'failed');

CREATE TABLE fleet_questions (
    fleet_id UUID NOT NULL,
    position BIGINT NOT NULL,
    organisation_id UUID DEFAULT current_organisation() NOT NULL,
    name TEXT NOT NULL,
    query JSON NOT NULL,
    run_id UUID,
    number BIGINT,
    status TEXT,
    detail TEXT DEFAULT '' NOT NULL,
    PRIMARY KEY (fleet_id, position),
    FOREIGN KEY(organisation_id, fleet_id) REFERENCES fleets (organisation_id, id) ON DELETE CASCADE,
    CONSTRAINT fleet_questions_once UNIQUE (fleet_id, name),
    FOREIGN KEY(organisation_id) REFERENCES organisations (id) ON DELETE CASCADE
);
CREATE INDEX fleet_questions_ended ON fleet_questions (fleet_id, number) WHERE number IS NOT NULL;
CREATE INDEX fleet_questions_under_way ON fleet_questions (fleet_id, run_id) WHERE run_id IS NOT NULL AND number IS NULL;
CREATE INDEX fleet_questions_waiting ON fleet_questions (fleet_id, position) WHERE run_id IS NULL AND number IS NULL;

CREATE TABLE runs (
    id UUID NOT NULL,
    query JSON NOT NULL,
    status TEXT DEFAULT 'queued' NOT NULL,
    detail TEXT DEFAULT '' NOT NULL,
    plan JSON,
    dropped TEXT[] DEFAULT '{}' NOT NULL,
    finish BOOLEAN DEFAULT 'false' NOT NULL,
    approved BOOLEAN DEFAULT 'false' NOT NULL,
    created_at timestamptz DEFAULT now() NOT NULL,
    dispatched_at timestamptz,
    finished_at timestamptz,
    organisation_id UUID DEFAULT current_organisation() NOT NULL,
    made_for UUID,
    created_with UUID DEFAULT (NULLIF(current_setting('rubrica.key'::text, true), ''::text))::uuid,
    fleet_id UUID,
    created_by UUID DEFAULT (NULLIF(current_setting('rubrica.user'::text, true), ''::text))::uuid,
    PRIMARY KEY (id),
    CONSTRAINT runs_in_organisation UNIQUE (organisation_id, id),
    FOREIGN KEY(organisation_id, made_for) REFERENCES runs (organisation_id, id) ON DELETE CASCADE,
    FOREIGN KEY(organisation_id, fleet_id) REFERENCES fleets (organisation_id, id) ON DELETE CASCADE,
    CONSTRAINT runs_status CHECK (status IN ('queued', 'running', 'awaiting_approval', 'paused', 'budget_reached', 'completed', 'failed', 'cancelled')),
    FOREIGN KEY(organisation_id) REFERENCES organisations (id) ON DELETE CASCADE,
    FOREIGN KEY(created_by) REFERENCES users (id) ON DELETE SET NULL
);
CREATE INDEX runs_ended ON runs (organisation_id, finished_at);
CREATE INDEX runs_listed ON runs (organisation_id, created_at DESC, id DESC) WHERE made_for IS NULL AND fleet_id IS NULL;
CREATE INDEX runs_made_for ON runs (made_for);
CREATE INDEX runs_newest_first ON runs (organisation_id, created_at DESC, id DESC);
CREATE INDEX runs_of_fleet ON runs (fleet_id) WHERE fleet_id IS NOT NULL;
CREATE INDEX runs_side_by_side ON runs ((query ->> 'evidence_of'::text)) WHERE (query ->> 'evidence_of'::text) IS NOT NULL;
CREATE INDEX runs_under_way ON runs (organisation_id) WHERE finished_at IS NULL;
CREATE INDEX runs_undispatched ON runs (created_at) WHERE dispatched_at IS NULL;

CREATE TABLE sessions (
    token_hash BYTEA NOT NULL,
    organisation_id UUID DEFAULT current_organisation() NOT NULL,
    user_id UUID NOT NULL,
    created_at timestamptz DEFAULT now() NOT NULL,
    renewed_at timestamptz DEFAULT now() NOT NULL,
    seen_at timestamptz DEFAULT now() NOT NULL,
    expires_at timestamptz NOT NULL,
    PRIMARY KEY (token_hash),
    FOREIGN KEY(organisation_id, user_id) REFERENCES memberships (organisation_id, user_id) ON DELETE CASCADE,
    FOREIGN KEY(organisation_id) REFERENCES organisations (id) ON DELETE CASCADE
);
CREATE INDEX sessions_of_organisation ON sessions (organisation_id, user_id);
CREATE INDEX sessions_of_user ON sessions (user_id);

CREATE TABLE webhook_deliveries (
    id UUID DEFAULT gen_random_uuid() NOT NULL,
    organisation_id UUID DEFAULT current_organisation() NOT NULL,
    webhook_id UUID NOT NULL,
    type TEXT NOT NULL,
    body TEXT NOT NULL,
    state TEXT DEFAULT 'pending' NOT NULL,
    attempts INTEGER DEFAULT 0 NOT NULL,
    status INTEGER,
    error TEXT DEFAULT '' NOT NULL,
    created_at timestamptz DEFAULT now() NOT NULL,
    next_attempt_at timestamptz DEFAULT now(),
    delivered_at timestamptz,
    PRIMARY KEY (id),
    FOREIGN KEY(organisation_id, webhook_id) REFERENCES webhooks (organisation_id, id) ON DELETE CASCADE,
    FOREIGN KEY(organisation_id) REFERENCES organisations (id) ON DELETE CASCADE
);
CREATE INDEX webhook_deliveries_due ON webhook_deliveries (next_attempt_at) WHERE state = 'pending';
CREATE INDEX webhook_deliveries_newest ON webhook_deliveries (webhook_id, created_at DESC, id DESC);

CREATE TABLE claim_flags (
    run_id UUID NOT NULL,
    claim INTEGER NOT NULL,
    user_id UUID NOT NULL,
    organisation_id UUID DEFAULT current_organisation() NOT NULL,
    reason TEXT NOT NULL,
    claim_text TEXT NOT NULL,
    report_digest TEXT NOT NULL,
    made_at timestamptz DEFAULT now() NOT NULL,
    PRIMARY KEY (run_id, claim, user_id),
    FOREIGN KEY(organisation_id, run_id) REFERENCES runs (organisation_id, id) ON DELETE CASCADE,
    FOREIGN KEY(user_id) REFERENCES users (id) ON DELETE CASCADE,
    FOREIGN KEY(organisation_id) REFERENCES organisations (id) ON DELETE CASCADE
);
CREATE INDEX claim_flags_of_user ON claim_flags (user_id);

CREATE TABLE collection_runs (
    collection_id UUID NOT NULL,
    run_id UUID NOT NULL,
    organisation_id UUID DEFAULT current_organisation() NOT NULL,
    PRIMARY KEY (collection_id, run_id),
    FOREIGN KEY(organisation_id, collection_id) REFERENCES collections (organisation_id, id) ON DELETE CASCADE,
    FOREIGN KEY(organisation_id, run_id) REFERENCES runs (organisation_id, id) ON DELETE CASCADE,
    FOREIGN KEY(organisation_id) REFERENCES organisations (id) ON DELETE CASCADE
);
CREATE INDEX collection_runs_of_run ON collection_runs (run_id);

CREATE TABLE comparisons (
    id UUID NOT NULL,
    organisation_id UUID DEFAULT current_organisation() NOT NULL,
    run_id UUID NOT NULL,
    made_run_id UUID NOT NULL,
    created_by UUID,
    evidence_digest TEXT NOT NULL,
    failure TEXT DEFAULT '' NOT NULL,
    created_at timestamptz DEFAULT now() NOT NULL,
    PRIMARY KEY (id),
    CONSTRAINT comparisons_in_organisation UNIQUE (organisation_id, id),
    FOREIGN KEY(organisation_id, run_id) REFERENCES runs (organisation_id, id) ON DELETE CASCADE,
    FOREIGN KEY(organisation_id, made_run_id) REFERENCES runs (organisation_id, id) ON DELETE CASCADE,
    FOREIGN KEY(organisation_id) REFERENCES organisations (id) ON DELETE CASCADE,
    FOREIGN KEY(created_by) REFERENCES users (id) ON DELETE SET NULL
);
CREATE INDEX comparisons_newest_first ON comparisons (organisation_id, created_at DESC, id DESC);
CREATE INDEX comparisons_of_made_run ON comparisons (made_run_id);
CREATE INDEX comparisons_of_run ON comparisons (run_id);

CREATE TABLE events (
    run_id UUID NOT NULL,
    seq BIGINT NOT NULL,
    type TEXT NOT NULL,
    agent TEXT DEFAULT '' NOT NULL,
    payload JSON NOT NULL,
    at timestamptz DEFAULT now() NOT NULL,
    origin TEXT,
    PRIMARY KEY (run_id, seq),
    FOREIGN KEY(run_id) REFERENCES runs (id) ON DELETE CASCADE
);

CREATE TABLE ledgers (
    run_id UUID NOT NULL,
    control TEXT DEFAULT 'none' NOT NULL,
    max_tokens BIGINT,
    max_cost_microusd BIGINT,
    max_seconds BIGINT,
    model_calls BIGINT DEFAULT 0 NOT NULL,
    tool_calls BIGINT DEFAULT 0 NOT NULL,
    input_tokens BIGINT DEFAULT 0 NOT NULL,
    output_tokens BIGINT DEFAULT 0 NOT NULL,
    cost_microusd BIGINT DEFAULT 0 NOT NULL,
    reserved_tokens BIGINT DEFAULT 0 NOT NULL,
    reserved_cost_microusd BIGINT DEFAULT 0 NOT NULL,
    active_seconds FLOAT DEFAULT 0 NOT NULL,
    running_since timestamptz,
    last_seq BIGINT DEFAULT 0 NOT NULL,
    updated_at timestamptz DEFAULT now() NOT NULL,
    PRIMARY KEY (run_id),
    CONSTRAINT ledgers_control CHECK (control IN ('none', 'pause', 'cancel')),
    FOREIGN KEY(run_id) REFERENCES runs (id) ON DELETE CASCADE
) WITH (fillfactor = 40);

CREATE TABLE notes (
    run_id UUID NOT NULL,
    seq BIGINT NOT NULL,
    text TEXT NOT NULL,
    at timestamptz DEFAULT now() NOT NULL,
    PRIMARY KEY (run_id, seq),
    FOREIGN KEY(run_id) REFERENCES runs (id) ON DELETE CASCADE
);

CREATE TABLE ratings (
    run_id UUID NOT NULL,
    user_id UUID NOT NULL,
    organisation_id UUID DEFAULT current_organisation() NOT NULL,
    stars SMALLINT NOT NULL,
    comment TEXT DEFAULT '' NOT NULL,
    report_digest TEXT NOT NULL,
    made_at timestamptz DEFAULT now() NOT NULL,
    PRIMARY KEY (run_id, user_id),
    FOREIGN KEY(organisation_id, run_id) REFERENCES runs (organisation_id, id) ON DELETE CASCADE,
    FOREIGN KEY(user_id) REFERENCES users (id) ON DELETE CASCADE,
    FOREIGN KEY(organisation_id) REFERENCES organisations (id) ON DELETE CASCADE
);
CREATE INDEX ratings_of_user ON ratings (user_id);

CREATE TABLE report_shares (
    id UUID NOT NULL,
    organisation_id UUID DEFAULT current_organisation() NOT NULL,
    run_id UUID NOT NULL,
    version INTEGER NOT NULL,
    token_hash BYTEA NOT NULL,
    created_at timestamptz DEFAULT now() NOT NULL,
    expires_at timestamptz NOT NULL,
    revoked_at timestamptz,
    last_read_at timestamptz,
    PRIMARY KEY (id),
    FOREIGN KEY(organisation_id, run_id) REFERENCES runs (organisation_id, id) ON DELETE CASCADE,
    CONSTRAINT report_shares_token UNIQUE (token_hash),
    FOREIGN KEY(organisation_id) REFERENCES organisations (id) ON DELETE CASCADE
);
CREATE INDEX report_shares_of_run ON report_shares (run_id);

CREATE TABLE report_tasks (
    id UUID NOT NULL,
    run_id UUID NOT NULL,
    kind TEXT NOT NULL,
    base INTEGER NOT NULL,
    request JSON NOT NULL,
    status TEXT DEFAULT 'queued' NOT NULL,
    detail TEXT DEFAULT '' NOT NULL,
    version INTEGER,
    answer JSON,
    usage JSON,
    created_with UUID DEFAULT (NULLIF(current_setting('rubrica.key'::text, true), ''::text))::uuid,
    created_by UUID DEFAULT (NULLIF(current_setting('rubrica.user'::text, true), ''::text))::uuid,
    created_at timestamptz DEFAULT now() NOT NULL,
    finished_at timestamptz,
    PRIMARY KEY (id),
    CONSTRAINT report_tasks_kind CHECK (kind IN ('edit', 'rewrite', 'deepen', 'question', 'score')),
    CONSTRAINT report_tasks_status CHECK (status IN ('queued', 'done', 'failed')),
    FOREIGN KEY(run_id) REFERENCES runs (id) ON DELETE CASCADE,
    FOREIGN KEY(created_by) REFERENCES users (id) ON DELETE SET NULL
);
CREATE INDEX report_tasks_ended ON report_tasks (finished_at);
CREATE INDEX report_tasks_of_run ON report_tasks (run_id, created_at DESC, id DESC);
CREATE UNIQUE INDEX report_tasks_one_change ON report_tasks (run_id, base) WHERE kind IN ('edit', 'rewrite', 'deepen') AND status <> 'failed';
CREATE UNIQUE INDEX report_tasks_one_scoring ON report_tasks (run_id) WHERE kind = 'score' AND status = 'queued';
CREATE INDEX report_tasks_queued ON report_tasks (created_at) WHERE status = 'queued';

CREATE TABLE report_versions (
    run_id UUID NOT NULL,
    n INTEGER NOT NULL,
    origin TEXT NOT NULL,
    based_on INTEGER NOT NULL,
    section INTEGER,
    note TEXT DEFAULT '' NOT NULL,
    usage JSON NOT NULL,
    report JSON NOT NULL,
    markdown TEXT NOT NULL,
    html TEXT NOT NULL,
    evidence JSON NOT NULL,
    created_at timestamptz DEFAULT now() NOT NULL,
    PRIMARY KEY (run_id, n),
    CONSTRAINT report_versions_origin CHECK (origin IN ('delivered', 'edited', 'rewritten', 'deepened', 'reverted', 'chosen')),
    FOREIGN KEY(run_id) REFERENCES runs (id) ON DELETE CASCADE
);

CREATE TABLE reports (
    run_id UUID NOT NULL,
    report JSON NOT NULL,
    markdown TEXT NOT NULL,
    html TEXT NOT NULL,
    evidence JSON NOT NULL,
    created_at timestamptz DEFAULT now() NOT NULL,
    PRIMARY KEY (run_id),
    FOREIGN KEY(run_id) REFERENCES runs (id) ON DELETE CASCADE
);

CREATE TABLE response_details (
    id UUID NOT NULL,
    run_id UUID NOT NULL,
    notes JSON NOT NULL,
    previous_id UUID,
    retrievable BOOLEAN NOT NULL,
    PRIMARY KEY (id),
    FOREIGN KEY(run_id) REFERENCES runs (id) ON DELETE CASCADE
);
CREATE INDEX response_details_of_run ON response_details (run_id);

CREATE TABLE run_rubrics (
    run_id UUID NOT NULL,
    drafted JSON,
    rubric JSON NOT NULL,
    edited_at timestamptz,
    edited_by UUID,
    scorecard JSON,
    created_at timestamptz DEFAULT now() NOT NULL,
    PRIMARY KEY (run_id),
    FOREIGN KEY(run_id) REFERENCES runs (id) ON DELETE CASCADE,
    FOREIGN KEY(edited_by) REFERENCES users (id) ON DELETE SET NULL
);
CREATE INDEX run_rubrics_of_editor ON run_rubrics (edited_by);

CREATE TABLE run_sources (
    hash TEXT NOT NULL,
    organisation_id UUID DEFAULT current_organisation() NOT NULL,
    run_id UUID NOT NULL,
    PRIMARY KEY (hash, organisation_id, run_id),
    FOREIGN KEY(organisation_id, run_id) REFERENCES runs (organisation_id, id) ON DELETE CASCADE,
    FOREIGN KEY(organisation_id) REFERENCES organisations (id) ON DELETE CASCADE
);
CREATE INDEX run_sources_of_run ON run_sources (run_id);

CREATE TABLE schedules (
    id UUID NOT NULL,
    organisation_id UUID DEFAULT current_organisation() NOT NULL,
    name TEXT NOT NULL,
    query JSON NOT NULL,
    cron TEXT NOT NULL,
    time_zone TEXT NOT NULL,
    jitter_s INTEGER NOT NULL,
    overlap TEXT NOT NULL,
    deliver_to TEXT[] DEFAULT '{}' NOT NULL,
    paused BOOLEAN DEFAULT 'false' NOT NULL,
    detail TEXT DEFAULT '' NOT NULL,
    baseline_id UUID,
    revision INTEGER DEFAULT 1 NOT NULL,
    synced INTEGER DEFAULT 0 NOT NULL,
    created_by UUID DEFAULT (NULLIF(current_setting('rubrica.user'::text, true), ''::text))::uuid,
    created_at timestamptz DEFAULT now() NOT NULL,
    deleted_at timestamptz,
    PRIMARY KEY (id),
    CONSTRAINT schedules_in_organisation UNIQUE (organisation_id, id),
    FOREIGN KEY(organisation_id, baseline_id) REFERENCES runs (organisation_id, id) ON DELETE SET NULL (baseline_id),
    CONSTRAINT schedules_overlap CHECK (overlap IN ('skip', 'wait')),
    FOREIGN KEY(organisation_id) REFERENCES organisations (id) ON DELETE CASCADE,
    FOREIGN KEY(created_by) REFERENCES users (id) ON DELETE SET NULL
);
CREATE INDEX schedules_newest_first ON schedules (organisation_id, created_at DESC, id DESC);
CREATE INDEX schedules_unsynced ON schedules (id) WHERE synced < revision;

CREATE TABLE stages (
    run_id UUID NOT NULL,
    stage TEXT NOT NULL,
    attempt INTEGER DEFAULT 0 NOT NULL,
    done BOOLEAN DEFAULT 'false' NOT NULL,
    dropped BOOLEAN DEFAULT 'false' NOT NULL,
    result BYTEA,
    notes_upto BIGINT DEFAULT 0 NOT NULL,
    reserved_tokens BIGINT DEFAULT 0 NOT NULL,
    reserved_cost_microusd BIGINT DEFAULT 0 NOT NULL,
    opened_at timestamptz DEFAULT now() NOT NULL,
    closed_at timestamptz,
    answered JSONB DEFAULT '{}'::jsonb NOT NULL,
    PRIMARY KEY (run_id, stage),
    FOREIGN KEY(run_id) REFERENCES runs (id) ON DELETE CASCADE
) WITH (fillfactor = 60);

CREATE TABLE tool_calls (
    run_id UUID NOT NULL,
    key TEXT NOT NULL,
    result BYTEA NOT NULL,
    at timestamptz DEFAULT now() NOT NULL,
    PRIMARY KEY (run_id, key),
    FOREIGN KEY(run_id) REFERENCES runs (id) ON DELETE CASCADE
);

CREATE TABLE turns (
    run_id UUID NOT NULL,
    stage TEXT NOT NULL,
    agent TEXT NOT NULL,
    ordinal INTEGER NOT NULL,
    revision INTEGER NOT NULL,
    seq BIGINT NOT NULL,
    kind TEXT NOT NULL,
    step TEXT NOT NULL,
    digest TEXT NOT NULL,
    granted BOOLEAN NOT NULL,
    body BYTEA NOT NULL,
    created_at timestamptz DEFAULT now() NOT NULL,
    attempt INTEGER,
    PRIMARY KEY (run_id, stage, agent, ordinal, revision),
    FOREIGN KEY(run_id) REFERENCES runs (id) ON DELETE CASCADE
);

CREATE TABLE annotation_tasks (
    comparison_id UUID NOT NULL,
    organisation_id UUID DEFAULT current_organisation() NOT NULL,
    overlap SMALLINT NOT NULL,
    gold TEXT,
    created_by UUID,
    created_at timestamptz DEFAULT now() NOT NULL,
    PRIMARY KEY (comparison_id),
    CONSTRAINT annotation_tasks_in_organisation UNIQUE (organisation_id, comparison_id),
    FOREIGN KEY(organisation_id, comparison_id) REFERENCES comparisons (organisation_id, id) ON DELETE CASCADE,
    FOREIGN KEY(organisation_id) REFERENCES organisations (id) ON DELETE CASCADE,
    FOREIGN KEY(created_by) REFERENCES users (id) ON DELETE SET NULL
);

CREATE TABLE candidates (
    comparison_id UUID NOT NULL,
    place TEXT NOT NULL,
    organisation_id UUID DEFAULT current_organisation() NOT NULL,
    digest TEXT NOT NULL,
    title TEXT NOT NULL,
    markdown TEXT NOT NULL,
    shown JSON NOT NULL,
    report JSON NOT NULL,
    lineage JSON NOT NULL,
    tokens BIGINT NOT NULL,
    cost_microusd BIGINT NOT NULL,
    PRIMARY KEY (comparison_id, place),
    FOREIGN KEY(organisation_id, comparison_id) REFERENCES comparisons (organisation_id, id) ON DELETE CASCADE,
    FOREIGN KEY(organisation_id) REFERENCES organisations (id) ON DELETE CASCADE
);

CREATE TABLE deliveries (
    id UUID NOT NULL,
    organisation_id UUID DEFAULT current_organisation() NOT NULL,
    schedule_id UUID NOT NULL,
    due_at timestamptz NOT NULL,
    address TEXT NOT NULL,
    state TEXT DEFAULT 'waiting' NOT NULL,
    attempts INTEGER DEFAULT 0 NOT NULL,
    detail TEXT DEFAULT '' NOT NULL,
    made_at timestamptz DEFAULT now() NOT NULL,
    sent_at timestamptz,
    PRIMARY KEY (id),
    FOREIGN KEY(organisation_id, schedule_id) REFERENCES schedules (organisation_id, id) ON DELETE CASCADE,
    CONSTRAINT deliveries_state CHECK (state IN ('waiting', 'sent', 'refused', 'unsubscribed')),
    CONSTRAINT deliveries_once UNIQUE (schedule_id, due_at, address),
    FOREIGN KEY(organisation_id) REFERENCES organisations (id) ON DELETE CASCADE
);

CREATE TABLE schedule_firings (
    schedule_id UUID NOT NULL,
    due_at timestamptz NOT NULL,
    organisation_id UUID DEFAULT current_organisation() NOT NULL,
    outcome TEXT NOT NULL,
    detail TEXT DEFAULT '' NOT NULL,
    run_id UUID,
    baseline_id UUID,
    changes JSON,
    repeated_calls INTEGER DEFAULT 0 NOT NULL,
    started_at timestamptz DEFAULT now() NOT NULL,
    ended_at timestamptz,
    PRIMARY KEY (schedule_id, due_at),
    FOREIGN KEY(organisation_id, schedule_id) REFERENCES schedules (organisation_id, id) ON DELETE CASCADE,
    FOREIGN KEY(organisation_id, run_id) REFERENCES runs (organisation_id, id) ON DELETE SET NULL (run_id),
    FOREIGN KEY(organisation_id, baseline_id) REFERENCES runs (organisation_id, id) ON DELETE SET NULL (baseline_id),
    CONSTRAINT schedule_firings_outcome CHECK (outcome IN ('running', 'first', 'unchanged', 'changed', 'failed', 'skipped')),
    FOREIGN KEY(organisation_id) REFERENCES organisations (id) ON DELETE CASCADE
);

CREATE TABLE unsubscribes (
    schedule_id UUID NOT NULL,
    address TEXT NOT NULL,
    organisation_id UUID DEFAULT current_organisation() NOT NULL,
    at timestamptz DEFAULT now() NOT NULL,
    PRIMARY KEY (schedule_id, address),
    FOREIGN KEY(organisation_id, schedule_id) REFERENCES schedules (organisation_id, id) ON DELETE CASCADE,
    FOREIGN KEY(organisation_id) REFERENCES organisations (id) ON DELETE CASCADE
);

CREATE TABLE viewings (
    comparison_id UUID NOT NULL,
    user_id UUID NOT NULL,
    organisation_id UUID DEFAULT current_organisation() NOT NULL,
    left_place TEXT NOT NULL,
    first_viewed_at timestamptz DEFAULT now() NOT NULL,
    revealed_at timestamptz,
    PRIMARY KEY (comparison_id, user_id),
    CONSTRAINT viewings_in_organisation UNIQUE (organisation_id, comparison_id, user_id),
    FOREIGN KEY(organisation_id, comparison_id) REFERENCES comparisons (organisation_id, id) ON DELETE CASCADE,
    FOREIGN KEY(user_id) REFERENCES users (id) ON DELETE CASCADE,
    FOREIGN KEY(organisation_id) REFERENCES organisations (id) ON DELETE CASCADE
);
CREATE INDEX viewings_of_user ON viewings (user_id);

CREATE TABLE assignments (
    id UUID NOT NULL,
    comparison_id UUID NOT NULL,
    user_id UUID NOT NULL,
    organisation_id UUID DEFAULT current_organisation() NOT NULL,
    assigned_at timestamptz DEFAULT now() NOT NULL,
    expires_at timestamptz NOT NULL,
    finished_at timestamptz,
    skipped TEXT,
    PRIMARY KEY (id),
    FOREIGN KEY(organisation_id, comparison_id) REFERENCES annotation_tasks (organisation_id, comparison_id) ON DELETE CASCADE,
    FOREIGN KEY(user_id) REFERENCES users (id) ON DELETE CASCADE,
    FOREIGN KEY(organisation_id) REFERENCES organisations (id) ON DELETE CASCADE
);
CREATE INDEX assignments_of_user ON assignments (user_id);
CREATE UNIQUE INDEX assignments_once ON assignments (comparison_id, user_id);

CREATE TABLE choices (
    comparison_id UUID NOT NULL,
    user_id UUID NOT NULL,
    organisation_id UUID DEFAULT current_organisation() NOT NULL,
    choice JSON NOT NULL,
    outcome TEXT NOT NULL,
    annotation BOOLEAN DEFAULT 'false' NOT NULL,
    elapsed_seconds FLOAT NOT NULL,
    made_at timestamptz DEFAULT now() NOT NULL,
    changed_at timestamptz DEFAULT now() NOT NULL,
    changes INTEGER DEFAULT 0 NOT NULL,
    PRIMARY KEY (comparison_id, user_id),
    FOREIGN KEY(organisation_id, comparison_id, user_id) REFERENCES viewings (organisation_id, comparison_id, user_id) ON DELETE CASCADE,
    FOREIGN KEY(organisation_id) REFERENCES organisations (id) ON DELETE CASCADE
);
