-- Append an event; its number. Null when there is no such run.
CREATE OR REPLACE FUNCTION append_event(p_run uuid, p_type text, p_agent text,
    p_payload json) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    number bigint;
BEGIN
    UPDATE ledgers SET last_seq = last_seq + 1, updated_at = now() WHERE run_id = p_run RETURNING last_seq INTO number;
    IF FOUND THEN
        PERFORM write_event(p_run, number, p_type, p_agent, p_payload);
    END IF;
    RETURN number;
END
$$;

-- A kept result that is young enough; else the right to make the call (`mine`), unless another worker is making it.
-- A claim that its holder did not live to give back ends by itself after `p_lease`.
CREATE OR REPLACE FUNCTION begin_call(p_key text, p_max_age interval, p_lease interval,
    OUT body bytea, OUT fetched_at timestamptz, OUT age interval, OUT mine boolean)
LANGUAGE plpgsql AS $$
BEGIN
    SELECT r.body, r.fetched_at, clock_timestamp() - r.fetched_at INTO body, fetched_at, age FROM outside_results r
        WHERE r.key = p_key AND r.body IS NOT NULL AND r.fetched_at > clock_timestamp() - p_max_age;
    mine := false;
    IF NOT FOUND THEN
        INSERT INTO outside_results AS r (key, claimed_until) VALUES (p_key, clock_timestamp() + p_lease)
            ON CONFLICT (key) DO UPDATE SET claimed_until = excluded.claimed_until
                WHERE r.claimed_until IS NULL OR r.claimed_until < clock_timestamp();
        mine := FOUND;
    END IF;
END
$$;

-- True when one more reservation fits under the caps, counting what is spent and every live reservation.
CREATE OR REPLACE FUNCTION budget_allows(ledger ledgers, tokens bigint, cost bigint) RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT (ledger.max_tokens IS NULL
            OR ledger.input_tokens + ledger.output_tokens + ledger.reserved_tokens + tokens <= ledger.max_tokens)
       AND (ledger.max_cost_microusd IS NULL
            OR ledger.cost_microusd + ledger.reserved_cost_microusd + cost <= ledger.max_cost_microusd)
       AND (ledger.max_seconds IS NULL
            OR ledger.active_seconds + coalesce(extract(epoch FROM now() - ledger.running_since), 0) < ledger.max_seconds)
$$;

-- Close a stage with its result: keep the cited snapshots and that this run cites them, release what it still had reserved, append
-- `stage_finished`. `p_hashes` names all of the stage's sources; those that are not stored yet come first, with their texts in
-- `p_texts`. The first result stays: closing again answers false and changes nothing, as does an attempt that another has replaced.
CREATE OR REPLACE FUNCTION close_stage(p_run uuid, p_stage text, p_attempt integer, p_result bytea, p_hashes text[],
    p_texts bytea[],
    p_payload json) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
    ledger ledgers;
    open_stage stages;
BEGIN
    INSERT INTO snapshots (hash, body)
        SELECT given.hash, given.body FROM unnest(p_hashes, p_texts) AS given (hash, body) WHERE given.body IS NOT NULL
        ORDER BY given.hash ON CONFLICT DO NOTHING;
    SELECT * INTO ledger FROM ledgers l WHERE l.run_id = p_run FOR NO KEY UPDATE;
    SELECT * INTO open_stage FROM stages s WHERE s.run_id = p_run AND s.stage = p_stage AND s.attempt = p_attempt AND NOT s.done;
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    INSERT INTO run_sources (hash, organisation_id, run_id)
        SELECT given, r.organisation_id, r.id FROM unnest(p_hashes) AS given, runs r WHERE r.id = p_run ON CONFLICT DO NOTHING;
    UPDATE stages s SET done = true, result = p_result, reserved_tokens = 0, reserved_cost_microusd = 0, closed_at = now()
        WHERE s.run_id = p_run AND s.stage = p_stage;
    UPDATE ledgers l SET reserved_tokens = l.reserved_tokens - open_stage.reserved_tokens,
                         reserved_cost_microusd = l.reserved_cost_microusd - open_stage.reserved_cost_microusd,
                         last_seq = l.last_seq + 1, updated_at = now()
        WHERE l.run_id = p_run;
    PERFORM write_event(p_run, ledger.last_seq + 1, 'stage_finished', p_stage, p_payload);
    RETURN true;
END
$$;

-- Add a run that writes a second report over the evidence of `p_from`: its plan, its rubric, its finished searches and its reader's
-- notes are copied, so that only the report is left to be made. A subtask that was dropped after it had found something keeps that.
-- `p_stages` and `p_results` stand in for searches that left no result. Its sources are those of the run it was made for, which it
-- does not outlive, so who may read them need not be written again: the API's role must not be able to say so.
-- Notes are numbered up to 0: they came before this run's first event, so its report reads all of them.
CREATE OR REPLACE FUNCTION create_candidate(p_run uuid, p_from uuid, p_query json, p_max_tokens bigint, p_max_cost bigint,
    p_max_seconds bigint,
    p_type text, p_payload json, p_stages text[], p_results bytea[]) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO runs (id, query, plan, dropped, made_for)
        SELECT p_run, p_query, r.plan, ARRAY(SELECT d FROM unnest(r.dropped) AS d WHERE NOT EXISTS (
                   SELECT FROM stages s WHERE s.run_id = p_from AND s.done AND s.stage = 'search/' || d)), r.id
        FROM runs r WHERE r.id = p_from;
    INSERT INTO ledgers (run_id, max_tokens, max_cost_microusd, max_seconds, last_seq)
        VALUES (p_run, p_max_tokens, p_max_cost, p_max_seconds, 1);
    INSERT INTO events (run_id, seq, type, payload) VALUES (p_run, 1, p_type, p_payload);
    INSERT INTO stages (run_id, stage, attempt, done, dropped, result, opened_at, closed_at)
        SELECT p_run, s.stage, s.attempt, true, s.dropped, s.result, s.opened_at, s.closed_at FROM stages s
        WHERE s.run_id = p_from AND s.done AND s.stage LIKE 'search/%';
    INSERT INTO stages (run_id, stage, done, result)
        SELECT p_run, given.stage, true, given.result FROM unnest(p_stages, p_results) AS given (stage, result);
    INSERT INTO run_rubrics (run_id, drafted, rubric, edited_at)
        SELECT p_run, u.drafted, u.rubric, u.edited_at FROM run_rubrics u WHERE u.run_id = p_from;
    INSERT INTO notes (run_id, seq, text, at)
        SELECT p_run, n.seq - max(n.seq) OVER (), n.text, n.at FROM notes n WHERE n.run_id = p_from;
END
$$;

-- Add a run with its ledger and its first event. One function, because the policies of ledgers and events look for the run, which
-- the parts of a single statement do not see. Nobody can watch a run that does not exist yet, so nobody is notified.
CREATE OR REPLACE FUNCTION create_run(p_run uuid, p_query json, p_max_tokens bigint, p_max_cost bigint, p_max_seconds bigint,
    p_type text, p_payload json) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO runs (id, query) VALUES (p_run, p_query);
    INSERT INTO ledgers (run_id, max_tokens, max_cost_microusd, max_seconds, last_seq)
        VALUES (p_run, p_max_tokens, p_max_cost, p_max_seconds, 1);
    INSERT INTO events (run_id, seq, type, payload) VALUES (p_run, 1, p_type, p_payload);
END
$$;

-- Keep a result and the texts it speaks of, and give back the claim; when it was fetched.
CREATE OR REPLACE FUNCTION finish_call(p_key text, p_body bytea, p_hashes text[],
    p_texts bytea[]) RETURNS timestamptz LANGUAGE sql AS $$
    INSERT INTO outside_texts AS t (hash, body)
        SELECT given.hash, given.body FROM unnest(p_hashes, p_texts) AS given (hash, body) ORDER BY given.hash
        ON CONFLICT (hash) DO UPDATE SET fetched_at = now() WHERE t.fetched_at < now() - interval '1 day';
    INSERT INTO outside_results (key, body, fetched_at) VALUES (p_key, p_body, clock_timestamp())
        ON CONFLICT (key) DO UPDATE SET body = excluded.body, fetched_at = excluded.fetched_at, claimed_until = NULL
        RETURNING fetched_at
$$;

-- What a stage must do before its next turn. A reader's word outranks the budget.
CREATE OR REPLACE FUNCTION halt_of(control text, dropped boolean, granted boolean) RETURNS text LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE WHEN control <> 'none' THEN control WHEN dropped THEN 'dropped' WHEN NOT granted THEN 'budget' ELSE 'none' END
$$;

-- True when tokens or money have a cap.
CREATE OR REPLACE FUNCTION is_capped(ledger ledgers) RETURNS boolean LANGUAGE sql IMMUTABLE AS $$
    SELECT ledger.max_tokens IS NOT NULL OR ledger.max_cost_microusd IS NOT NULL
$$;

-- Whoever acts may use a collection that is open to all, is theirs, names them or their role; owners and admins may use all.
CREATE OR REPLACE FUNCTION may_use(c collections) RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT c.organisation_id = current_organisation()
       AND (c.everyone OR c.created_by = nullif(current_setting('rubrica.user', true), '')::uuid
            OR nullif(current_setting('rubrica.user', true), '')::uuid = ANY (c.users)
            OR EXISTS (SELECT FROM memberships m WHERE m.organisation_id = c.organisation_id
                       AND m.user_id = nullif(current_setting('rubrica.user', true), '')::uuid
                       AND (m.role IN ('owner', 'admin') OR m.role = ANY (c.roles))))
$$;

-- Open a stage, or open it again after its worker died: its dead reservations are released, its turns handed over.
-- The reader's notes are pinned when the stage is first opened, so that a repeated attempt reads what the first one read.
-- A finished stage only hands over its result. A stage that must not start (halt) appends no event. Without a reservation
-- (null) the budget is not asked: a stage that spends nothing always may run. `needed` are the results of the stages `p_needs`,
-- null where one has none; `asked_on` is the day (UTC) on which the run was created. `capped` tells whether tokens or money have a
-- cap, here and with every stored turn: without one nobody need ask for a reservation.
CREATE OR REPLACE FUNCTION open_stage(p_run uuid, p_stage text, p_title text, p_tokens bigint, p_cost bigint, p_needs text[],
    OUT attempt integer, OUT result bytea, OUT turns bytea[], OUT notes text[], OUT halt text, OUT granted boolean,
    OUT needed bytea[], OUT asked_on date, OUT capped boolean)
LANGUAGE plpgsql AS $$
DECLARE
    ledger ledgers;
    opened stages;
BEGIN
    SELECT * INTO ledger FROM ledgers WHERE run_id = p_run FOR NO KEY UPDATE;
    IF NOT FOUND THEN
        RETURN;
    END IF;
    INSERT INTO stages AS s (run_id, stage, notes_upto) VALUES (p_run, p_stage, ledger.last_seq) ON CONFLICT DO NOTHING;
    SELECT * INTO opened FROM stages s WHERE s.run_id = p_run AND s.stage = p_stage;
    attempt := opened.attempt;
    capped := is_capped(ledger);
    SELECT (r.created_at AT TIME ZONE 'UTC')::date INTO asked_on FROM runs r WHERE r.id = p_run;
    IF opened.done THEN
        result := opened.result;
        halt := 'none';
        granted := false;
        RETURN;
    END IF;

    ledger.reserved_tokens := ledger.reserved_tokens - opened.reserved_tokens;
    ledger.reserved_cost_microusd := ledger.reserved_cost_microusd - opened.reserved_cost_microusd;
    granted := p_tokens IS NULL OR budget_allows(ledger, p_tokens, p_cost);
    halt := halt_of(ledger.control, opened.dropped, granted);
    granted := granted AND halt = 'none';
    attempt := opened.attempt + 1;

    SELECT array_agg(latest.body ORDER BY latest.seq) INTO turns FROM (
        SELECT DISTINCT ON (t.agent, t.ordinal) t.body, t.seq FROM turns t
        WHERE t.run_id = p_run AND t.stage = p_stage ORDER BY t.agent, t.ordinal, t.revision DESC
    ) latest;
    SELECT array_agg(n.text ORDER BY n.seq) INTO notes FROM notes n WHERE n.run_id = p_run AND n.seq <= opened.notes_upto;
    SELECT array_agg(s.result ORDER BY need.place) INTO needed FROM unnest(p_needs) WITH ORDINALITY AS need (stage, place)
        LEFT JOIN stages s ON s.run_id = p_run AND s.stage = need.stage;

    UPDATE ledgers l SET reserved_tokens = ledger.reserved_tokens + CASE WHEN granted THEN coalesce(p_tokens, 0) ELSE 0 END,
                         reserved_cost_microusd = ledger.reserved_cost_microusd + CASE WHEN granted THEN coalesce(p_cost, 0) ELSE 0 END,
                         last_seq = l.last_seq + CASE WHEN halt = 'none' THEN 1 ELSE 0 END, updated_at = now()
        WHERE l.run_id = p_run;
    UPDATE stages s SET attempt = opened.attempt + 1,
                        reserved_tokens = CASE WHEN granted THEN coalesce(p_tokens, 0) ELSE 0 END,
                        reserved_cost_microusd = CASE WHEN granted THEN coalesce(p_cost, 0) ELSE 0 END
        WHERE s.run_id = p_run AND s.stage = p_stage;
    IF halt = 'none' THEN
        PERFORM write_event(p_run, ledger.last_seq + 1, 'stage_started', p_stage,
                            json_build_object('stage', p_stage, 'title', p_title, 'attempt', attempt));
    END IF;
END
$$;

-- The API's role may set a secret and not read one: the old one is put aside here, and signs beside the new one for a day.
CREATE OR REPLACE FUNCTION put_secret_aside() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.previous_secret := OLD.secret;
    NEW.previous_until := now() + interval '1 day';
    RETURN NEW;
END
$$;

CREATE OR REPLACE TRIGGER webhooks_put_secret_aside BEFORE UPDATE OF secret ON webhooks FOR EACH ROW EXECUTE FUNCTION put_secret_aside();

-- Report an attempt. `p_again_in` is when to try again, null for never. An endpoint that has failed for `p_patience`, or says that it
-- is gone, is turned off with the reason, and what waited for it has failed.
CREATE OR REPLACE FUNCTION report_delivery(p_id uuid, p_delivered boolean, p_status integer, p_error text, p_again_in interval,
    p_gone boolean, p_patience interval) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    hook uuid;
    since timestamptz;
BEGIN
    -- An endpoint that was turned off meanwhile is not tried again.
    UPDATE webhook_deliveries d SET
        state = CASE WHEN p_delivered THEN 'delivered' WHEN p_again_in IS NULL OR NOT w.enabled THEN 'failed' ELSE 'pending' END,
        status = p_status, error = CASE WHEN w.enabled THEN p_error ELSE d.error END,
        next_attempt_at = CASE WHEN w.enabled THEN now() + p_again_in END,
        delivered_at = CASE WHEN p_delivered THEN now() END
        FROM webhooks w WHERE d.id = p_id AND w.id = d.webhook_id RETURNING d.webhook_id INTO hook;
    IF p_delivered THEN
        UPDATE webhooks w SET failing_since = NULL WHERE w.id = hook AND w.failing_since IS NOT NULL;
        RETURN;
    END IF;
    UPDATE webhooks w SET failing_since = coalesce(w.failing_since, now()) WHERE w.id = hook RETURNING w.failing_since INTO since;
    IF p_gone OR since < now() - p_patience THEN
        UPDATE webhooks w SET enabled = false,
            disabled_reason = CASE WHEN p_gone THEN 'the endpoint answered 410 Gone' ELSE 'no delivery has succeeded for days: ' || p_error END
            WHERE w.id = hook AND w.enabled;
        UPDATE webhook_deliveries d SET state = 'failed', next_attempt_at = NULL WHERE d.webhook_id = hook AND d.state = 'pending';
    END IF;
END
$$;

-- Exchange a reservation for another outside a turn (an agent that starts, one that ended, a call larger than foreseen).
-- `p_call` numbers the attempt's exchanges: one that is sent twice is made once. One that moves nothing need not be remembered.
CREATE OR REPLACE FUNCTION reserve(p_run uuid, p_stage text, p_attempt integer, p_released_tokens bigint, p_released_cost bigint,
    p_next_tokens bigint, p_next_cost bigint, p_call integer DEFAULT NULL, OUT halt text, OUT granted boolean)
LANGUAGE plpgsql AS $$
DECLARE
    ledger ledgers;
    opened stages;
    call_key text := concat_ws('/', 'reserve', p_attempt, p_call);
    more_tokens bigint;
    more_cost bigint;
BEGIN
    SELECT * INTO ledger FROM ledgers l WHERE l.run_id = p_run FOR NO KEY UPDATE;
    SELECT * INTO opened FROM stages s WHERE s.run_id = p_run AND s.stage = p_stage;
    IF opened.attempt IS NULL THEN
        RETURN;
    END IF;
    IF opened.attempt <> p_attempt THEN
        halt := 'superseded';
        granted := false;
        RETURN;
    END IF;
    IF p_call IS NOT NULL AND opened.answered ? call_key THEN
        granted := (opened.answered -> call_key)::boolean;
        halt := halt_of(ledger.control, opened.dropped, granted);
        RETURN;
    END IF;
    ledger.reserved_tokens := ledger.reserved_tokens - p_released_tokens;
    ledger.reserved_cost_microusd := ledger.reserved_cost_microusd - p_released_cost;
    granted := p_next_tokens IS NULL OR budget_allows(ledger, p_next_tokens, p_next_cost);
    halt := halt_of(ledger.control, opened.dropped, granted);
    more_tokens := CASE WHEN granted THEN coalesce(p_next_tokens, 0) ELSE 0 END - p_released_tokens;
    more_cost := CASE WHEN granted THEN coalesce(p_next_cost, 0) ELSE 0 END - p_released_cost;
    IF more_tokens <> 0 OR more_cost <> 0 THEN
        UPDATE ledgers l SET reserved_tokens = l.reserved_tokens + more_tokens,
                             reserved_cost_microusd = l.reserved_cost_microusd + more_cost
            WHERE l.run_id = p_run;
        UPDATE stages s SET reserved_tokens = s.reserved_tokens + more_tokens,
                            reserved_cost_microusd = s.reserved_cost_microusd + more_cost,
                            answered = CASE WHEN p_call IS NULL THEN s.answered
                                            ELSE s.answered || jsonb_build_object(call_key, granted) END
            WHERE s.run_id = p_run AND s.stage = p_stage;
    END IF;
END
$$;

-- Move a run to another status; the number of the event, or null when nothing changed (same status and detail, or finished:
-- the first final status stays). The clock of the time cap runs only while the status is `running`. A finished run's control
-- stays on `cancel`, so that a stage that outlived it stops at its next turn.
CREATE OR REPLACE FUNCTION set_status(p_run uuid, p_status text, p_detail text,
    p_extra json) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    run runs;
    finished boolean := p_status IN ('completed', 'failed', 'cancelled');
BEGIN
    PERFORM FROM ledgers l WHERE l.run_id = p_run FOR NO KEY UPDATE;
    SELECT * INTO run FROM runs r WHERE r.id = p_run;
    IF NOT FOUND OR run.finished_at IS NOT NULL OR (run.status = p_status AND run.detail = p_detail) THEN
        RETURN NULL;
    END IF;
    UPDATE runs r SET status = p_status, detail = p_detail, finished_at = CASE WHEN finished THEN now() END WHERE r.id = p_run;
    UPDATE ledgers l SET
        active_seconds = l.active_seconds + coalesce(extract(epoch FROM now() - l.running_since), 0),
        running_since = CASE WHEN p_status = 'running' THEN now() END,
        control = CASE WHEN finished THEN 'cancel' ELSE l.control END
        WHERE l.run_id = p_run;
    RETURN append_event(p_run, 'status_changed', '',
                        (jsonb_build_object('status', p_status, 'detail', p_detail) || p_extra::jsonb)::json);
END
$$;

-- Store one turn: insert it, add its usage, release its reservation, reserve for the agent's next call, append its event.
-- A turn is known by its agent, its number, the digest of its request and the attempt that made it. Sent twice, it is stored and
-- billed once and answers the same, also when the stage has been opened again in between. The same request made by two attempts
-- was paid for twice, and is billed twice. From an attempt that another has replaced, only the bill is taken: its answer was paid
-- for, but the record belongs to the attempt that runs now; that it was billed is kept in the stage's `answered`.
CREATE OR REPLACE FUNCTION store_turn(p_run uuid, p_stage text, p_attempt integer, p_agent text, p_ordinal integer, p_kind text,
    p_step text,
    p_digest text, p_body bytea, p_model_calls bigint, p_tool_calls bigint, p_input bigint, p_output bigint,
    p_cost bigint, p_released_tokens bigint, p_released_cost bigint, p_next_tokens bigint, p_next_cost bigint,
    p_type text, p_payload json, OUT seq bigint, OUT halt text, OUT granted boolean, OUT capped boolean)
LANGUAGE plpgsql AS $$
DECLARE
    ledger ledgers;
    current_attempt integer;
    is_dropped boolean;
    earlier record;
    next_revision integer := 0;
    late_key text;
BEGIN
    SELECT * INTO ledger FROM ledgers l WHERE l.run_id = p_run FOR NO KEY UPDATE;
    SELECT s.attempt, s.dropped INTO current_attempt, is_dropped FROM stages s WHERE s.run_id = p_run AND s.stage = p_stage;
    IF current_attempt IS NULL THEN
        RETURN;
    END IF;
    capped := is_capped(ledger);
    SELECT t.revision, t.digest, t.seq, t.granted, t.attempt INTO earlier FROM turns t
        WHERE t.run_id = p_run AND t.stage = p_stage AND t.agent = p_agent AND t.ordinal = p_ordinal
        ORDER BY t.revision DESC LIMIT 1;
    IF FOUND THEN
        next_revision := earlier.revision + 1;
        -- A copied turn has no attempt and counts as the running one's.
        IF coalesce(earlier.attempt, current_attempt) <> p_attempt OR earlier.digest <> p_digest THEN
            SELECT t.revision, t.digest, t.seq, t.granted, t.attempt INTO earlier FROM turns t
                WHERE t.run_id = p_run AND t.stage = p_stage AND t.agent = p_agent AND t.ordinal = p_ordinal
                  AND t.attempt = p_attempt AND t.digest = p_digest
                ORDER BY t.revision DESC LIMIT 1;
        END IF;
        IF FOUND THEN
            seq := earlier.seq;
            granted := earlier.granted AND current_attempt = p_attempt;
            halt := CASE WHEN current_attempt = p_attempt THEN halt_of(ledger.control, is_dropped, granted) ELSE 'superseded' END;
            RETURN;
        END IF;
    END IF;

    IF current_attempt <> p_attempt THEN
        seq := ledger.last_seq;
        halt := 'superseded';
        granted := false;
        late_key := concat_ws('/', 'turn', p_attempt, p_ordinal, p_digest, p_agent);
        UPDATE stages s SET answered = s.answered || jsonb_build_object(late_key, true)
            WHERE s.run_id = p_run AND s.stage = p_stage AND NOT s.answered ? late_key;
        IF FOUND THEN
            UPDATE ledgers l SET model_calls = l.model_calls + p_model_calls, tool_calls = l.tool_calls + p_tool_calls,
                                 input_tokens = l.input_tokens + p_input, output_tokens = l.output_tokens + p_output,
                                 cost_microusd = l.cost_microusd + p_cost, updated_at = now()
                WHERE l.run_id = p_run;
        END IF;
        RETURN;
    END IF;

    ledger.model_calls := ledger.model_calls + p_model_calls;
    ledger.tool_calls := ledger.tool_calls + p_tool_calls;
    ledger.input_tokens := ledger.input_tokens + p_input;
    ledger.output_tokens := ledger.output_tokens + p_output;
    ledger.cost_microusd := ledger.cost_microusd + p_cost;
    ledger.reserved_tokens := ledger.reserved_tokens - p_released_tokens;
    ledger.reserved_cost_microusd := ledger.reserved_cost_microusd - p_released_cost;
    granted := p_next_tokens IS NULL OR budget_allows(ledger, p_next_tokens, p_next_cost);
    halt := halt_of(ledger.control, is_dropped, granted);
    seq := ledger.last_seq + 1;
    UPDATE ledgers l SET model_calls = ledger.model_calls, tool_calls = ledger.tool_calls, input_tokens = ledger.input_tokens,
                         output_tokens = ledger.output_tokens, cost_microusd = ledger.cost_microusd, last_seq = seq,
                         reserved_tokens = ledger.reserved_tokens + CASE WHEN granted THEN coalesce(p_next_tokens, 0) ELSE 0 END,
                         reserved_cost_microusd = ledger.reserved_cost_microusd
                                                  + CASE WHEN granted THEN coalesce(p_next_cost, 0) ELSE 0 END,
                         updated_at = now()
        WHERE l.run_id = p_run;
    -- A run without a cap reserves nothing: its stage need not be written with every turn.
    IF p_released_tokens <> 0 OR p_released_cost <> 0 OR coalesce(p_next_tokens, 0) <> 0 OR coalesce(p_next_cost, 0) <> 0 THEN
        UPDATE stages s SET reserved_tokens = s.reserved_tokens - p_released_tokens
                                              + CASE WHEN granted THEN coalesce(p_next_tokens, 0) ELSE 0 END,
                            reserved_cost_microusd = s.reserved_cost_microusd - p_released_cost
                                                     + CASE WHEN granted THEN coalesce(p_next_cost, 0) ELSE 0 END
            WHERE s.run_id = p_run AND s.stage = p_stage;
    END IF;
    INSERT INTO turns (run_id, stage, agent, ordinal, revision, seq, kind, step, digest, granted, body, attempt)
        VALUES (p_run, p_stage, p_agent, p_ordinal, next_revision, seq, p_kind, p_step, p_digest, granted, p_body, p_attempt);
    PERFORM write_event(p_run, seq, p_type, p_agent, p_payload);
END
$$;

-- Store turns that ended together, as `store_turn` stores one: a run's rows count in the order in which they come, and each is
-- numbered, billed and told whether its agent may go on as if it came alone. Tables are read and written once for all rows.
-- A row whose stage was never opened is answered with nulls. The same turn twice, both new, is refused (a unique violation): then
-- each is to be sent by itself. What `store_turn` says of turns that are sent again, or by an attempt that another has replaced,
-- holds here; tests hold the two to the same meaning.
CREATE OR REPLACE FUNCTION store_turns(p_run uuid[], p_stage text[], p_attempt integer[], p_agent text[], p_ordinal integer[],
    p_kind text[],
    p_step text[], p_digest text[], p_body bytea[], p_model_calls bigint[], p_tool_calls bigint[],
    p_input bigint[], p_output bigint[], p_cost bigint[], p_released_tokens bigint[],
    p_released_cost bigint[], p_next_tokens bigint[], p_next_cost bigint[], p_type text[], p_payload json[])
RETURNS TABLE (seq bigint, halt text, granted boolean, capped boolean) LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    nulls integer[] := array_fill(NULL::integer, ARRAY[cardinality(p_run)]);
    seqs bigint[] := nulls;
    halts text[] := nulls;
    grants boolean[] := nulls::text[];
    caps boolean[] := nulls::text[];
    revisions integer[] := nulls;  -- of the turns to insert
    more_tokens bigint[] := nulls;  -- what their agents reserve beyond what they held
    more_cost bigint[] := nulls;
    has_moved boolean := false;
    changed ledgers[] := '{}';
    ledger ledgers;
    is_changed boolean := false;
    asked record;
    earlier record;
    late_key text;
    place integer;
BEGIN
    PERFORM FROM ledgers l WHERE l.run_id = ANY(p_run) ORDER BY l.run_id FOR NO KEY UPDATE;
    FOR asked IN
        SELECT t.*, l AS ledger, s.attempt AS current_attempt, s.dropped,
               (SELECT max(e.revision) FROM turns e
                WHERE e.run_id = t.run_id AND e.stage = t.stage AND e.agent = t.agent AND e.ordinal = t.ordinal) AS revision
        FROM unnest(p_run, p_stage, p_attempt, p_agent, p_ordinal, p_digest, p_model_calls, p_tool_calls, p_input, p_output, p_cost,
                    p_released_tokens, p_released_cost, p_next_tokens, p_next_cost)
            WITH ORDINALITY AS t (run_id, stage, attempt, agent, ordinal, digest, model_calls, tool_calls, input, output, cost,
                                  released_tokens, released_cost, next_tokens, next_cost, place)
        JOIN ledgers l ON l.run_id = t.run_id
        JOIN stages s ON s.run_id = t.run_id AND s.stage = t.stage
        ORDER BY t.run_id, t.place
    LOOP
        IF asked.run_id IS DISTINCT FROM ledger.run_id THEN
            IF is_changed THEN
                changed := changed || ledger;
            END IF;
            ledger := asked.ledger;
            is_changed := false;
        END IF;
        place := asked.place;
        caps[place] := is_capped(ledger);

        IF asked.revision IS NOT NULL THEN
            -- A copied latest turn has no attempt and counts as the running one's.
            SELECT e.seq, e.granted INTO earlier FROM turns e
                WHERE e.run_id = asked.run_id AND e.stage = asked.stage AND e.agent = asked.agent AND e.ordinal = asked.ordinal
                  AND e.digest = asked.digest
                  AND coalesce(e.attempt, CASE WHEN e.revision = asked.revision THEN asked.current_attempt END) = asked.attempt
                ORDER BY e.revision DESC LIMIT 1;
            IF FOUND THEN
                seqs[place] := earlier.seq;
                grants[place] := earlier.granted AND asked.current_attempt = asked.attempt;
                halts[place] := CASE WHEN asked.current_attempt = asked.attempt
                                     THEN halt_of(ledger.control, asked.dropped, grants[place]) ELSE 'superseded' END;
                CONTINUE;
            END IF;
        END IF;

        IF asked.current_attempt <> asked.attempt THEN
            seqs[place] := ledger.last_seq;
            halts[place] := 'superseded';
            grants[place] := false;
            late_key := concat_ws('/', 'turn', asked.attempt, asked.ordinal, asked.digest, asked.agent);
            UPDATE stages s SET answered = s.answered || jsonb_build_object(late_key, true)
                WHERE s.run_id = asked.run_id AND s.stage = asked.stage AND NOT s.answered ? late_key;
            CONTINUE WHEN NOT FOUND;
        END IF;

        is_changed := true;
        ledger.model_calls := ledger.model_calls + asked.model_calls;
        ledger.tool_calls := ledger.tool_calls + asked.tool_calls;
        ledger.input_tokens := ledger.input_tokens + asked.input;
        ledger.output_tokens := ledger.output_tokens + asked.output;
        ledger.cost_microusd := ledger.cost_microusd + asked.cost;
        CONTINUE WHEN asked.current_attempt <> asked.attempt;

        ledger.reserved_tokens := ledger.reserved_tokens - asked.released_tokens;
        ledger.reserved_cost_microusd := ledger.reserved_cost_microusd - asked.released_cost;
        grants[place] := asked.next_tokens IS NULL OR budget_allows(ledger, asked.next_tokens, asked.next_cost);
        halts[place] := halt_of(ledger.control, asked.dropped, grants[place]);
        IF grants[place] THEN
            ledger.reserved_tokens := ledger.reserved_tokens + coalesce(asked.next_tokens, 0);
            ledger.reserved_cost_microusd := ledger.reserved_cost_microusd + coalesce(asked.next_cost, 0);
        END IF;
        more_tokens[place] := CASE WHEN grants[place] THEN coalesce(asked.next_tokens, 0) ELSE 0 END - asked.released_tokens;
        more_cost[place] := CASE WHEN grants[place] THEN coalesce(asked.next_cost, 0) ELSE 0 END - asked.released_cost;
        has_moved := has_moved OR more_tokens[place] <> 0 OR more_cost[place] <> 0;
        ledger.last_seq := ledger.last_seq + 1;
        seqs[place] := ledger.last_seq;
        revisions[place] := coalesce(asked.revision + 1, 0);
    END LOOP;
    IF is_changed THEN
        changed := changed || ledger;
    END IF;

    UPDATE ledgers l SET model_calls = c.model_calls, tool_calls = c.tool_calls, input_tokens = c.input_tokens,
                         output_tokens = c.output_tokens, cost_microusd = c.cost_microusd, last_seq = c.last_seq,
                         reserved_tokens = c.reserved_tokens, reserved_cost_microusd = c.reserved_cost_microusd, updated_at = now()
        FROM unnest(changed) AS c WHERE l.run_id = c.run_id;
    -- A run without a cap reserves nothing: its stages need not be written with every turn.
    IF has_moved THEN
        UPDATE stages s SET reserved_tokens = s.reserved_tokens + more.tokens,
                            reserved_cost_microusd = s.reserved_cost_microusd + more.cost
            FROM (SELECT m.run_id, m.stage, sum(m.tokens)::bigint AS tokens, sum(m.cost)::bigint AS cost
                  FROM unnest(p_run, p_stage, more_tokens, more_cost) AS m (run_id, stage, tokens, cost) GROUP BY 1, 2) AS more
            WHERE s.run_id = more.run_id AND s.stage = more.stage AND (more.tokens <> 0 OR more.cost <> 0);
    END IF;
    INSERT INTO turns (run_id, stage, agent, ordinal, revision, seq, kind, step, digest, granted, body, attempt)
        SELECT t.* FROM unnest(p_run, p_stage, p_agent, p_ordinal, revisions, seqs, p_kind, p_step, p_digest, grants, p_body,
                               p_attempt) AS t (run_id, stage, agent, ordinal, revision)
        WHERE t.revision IS NOT NULL;
    INSERT INTO events (run_id, seq, type, agent, payload)
        SELECT e.run_id, e.seq, e.type, e.agent, e.payload
        FROM unnest(p_run, seqs, p_type, p_agent, p_payload, revisions) AS e (run_id, seq, type, agent, payload, revision)
        WHERE e.revision IS NOT NULL;
    -- Watchers are told how far a run's log has come.
    PERFORM pg_notify('rubrica_events', e.run_id || ':' || max(e.seq))
        FROM unnest(p_run, seqs, revisions) AS e (run_id, seq, revision) WHERE e.revision IS NOT NULL GROUP BY e.run_id;
    RETURN QUERY SELECT * FROM unnest(seqs, halts, grants, caps);
END
$$;

-- Forget results older than `p_max_age`, the oldest ones beyond `p_max_bytes`, dead claims, full buckets, and texts older than
-- `p_max_text_age` (those that a finding cites were copied to `snapshots`). How many results were forgotten.
CREATE OR REPLACE FUNCTION sweep_outside(p_max_age interval, p_max_bytes bigint,
    p_max_text_age interval) RETURNS bigint LANGUAGE sql AS $$
    DELETE FROM outside_limits WHERE next_at < clock_timestamp() - interval '1 hour';
    DELETE FROM outside_texts WHERE fetched_at < now() - p_max_text_age;
    WITH kept AS (
        SELECT key, sum(octet_length(body) + 200) OVER (ORDER BY fetched_at DESC, key) AS total FROM outside_results WHERE body IS NOT NULL),
    gone AS (
        DELETE FROM outside_results r USING (SELECT key FROM outside_results) all_keys LEFT JOIN kept USING (key)
        WHERE r.key = all_keys.key AND (r.claimed_until IS NULL OR r.claimed_until < clock_timestamp())
          AND (kept.key IS NULL OR kept.total > p_max_bytes OR r.fetched_at < clock_timestamp() - p_max_age)
        RETURNING 1)
    SELECT count(*) FROM gone
$$;

-- Take the messages that are due, at most `p_each` of an endpoint and none of those in `p_busy`, so that a slow one holds up no
-- other. Whoever takes one has `p_lease` to report what became of it; then it is due again.
CREATE OR REPLACE FUNCTION take_deliveries(p_limit integer, p_each integer, p_lease interval, p_busy uuid[])
RETURNS TABLE (id uuid, webhook_id uuid, url text, secret text, previous_secret text, body text, attempts integer)
LANGUAGE sql AS $$
    WITH due AS (
        SELECT d.id, row_number() OVER (PARTITION BY d.webhook_id ORDER BY d.next_attempt_at) AS place, d.next_attempt_at
        FROM webhook_deliveries d
        WHERE d.state = 'pending' AND d.next_attempt_at <= now() AND d.webhook_id <> ALL(p_busy)),
    taken AS (
        SELECT d.id FROM webhook_deliveries d JOIN due ON due.id = d.id WHERE due.place <= p_each
        ORDER BY due.next_attempt_at LIMIT p_limit FOR UPDATE OF d SKIP LOCKED),
    claimed AS (
        UPDATE webhook_deliveries d SET attempts = d.attempts + 1, next_attempt_at = now() + p_lease FROM taken WHERE d.id = taken.id
        RETURNING d.id, d.webhook_id, d.body, d.attempts)
    SELECT c.id, c.webhook_id, w.url, w.secret, CASE WHEN w.previous_until > now() THEN w.previous_secret END, c.body, c.attempts
    FROM claimed c JOIN webhooks w ON w.id = c.webhook_id
$$;

-- Take a provider's next free slot: how long to wait for it, or no row when that is longer than `p_longest` (then none is taken).
-- A token bucket written as a time: `next_at` is when the bucket has its next token, `p_burst` is how many it holds.
CREATE OR REPLACE FUNCTION take_slot(p_lane text, p_every interval, p_burst integer, p_longest interval) RETURNS SETOF interval
LANGUAGE sql AS $$
    INSERT INTO outside_limits AS l (lane, next_at) VALUES (p_lane, clock_timestamp() - p_every * (p_burst - 2))
    ON CONFLICT (lane) DO UPDATE SET next_at = greatest(l.next_at, clock_timestamp() - p_every * (p_burst - 1)) + p_every
        WHERE l.next_at <= clock_timestamp() + p_longest
    RETURNING greatest(next_at - p_every - clock_timestamp(), interval '0')
$$;

-- Take one token from a bucket that holds `p_burst` and gets one more every `p_every`: what is left, and, when there was none, how long
-- until there is one. The bucket is written as the time at which it will be full (the generic cell rate algorithm).
CREATE OR REPLACE FUNCTION take_token(p_subject text, p_every interval, p_burst integer,
    OUT granted boolean, OUT remaining integer, OUT wait interval, OUT full_in interval)
LANGUAGE plpgsql AS $$
DECLARE
    full_at timestamptz;
    moment timestamptz := clock_timestamp();
BEGIN
    INSERT INTO rate_buckets AS b (subject, full_at) VALUES (p_subject, moment + p_every)
        ON CONFLICT (subject) DO UPDATE SET full_at = greatest(b.full_at, moment) + p_every
            WHERE greatest(b.full_at, moment) + p_every <= moment + p_every * p_burst
        RETURNING b.full_at INTO full_at;
    granted := FOUND;
    IF NOT granted THEN
        SELECT b.full_at INTO full_at FROM rate_buckets b WHERE b.subject = p_subject;
    END IF;
    full_in := greatest(coalesce(full_at, moment) - moment, interval '0');
    remaining := floor(p_burst - extract(epoch FROM full_in) / extract(epoch FROM p_every));
    wait := CASE WHEN granted THEN interval '0' ELSE greatest(full_in + p_every - p_every * p_burst, interval '0') END;
END
$$;

-- Append an event that an attempt at a stage tells outside a turn. `p_call` numbers what the attempt tells: sent twice, it is there
-- once. An attempt that another has replaced has no word any more. The event's number; 0 where it has no word; null: no such run.
-- What is told this way is rare (warnings, waiting), so that a look through the run's log costs less than an index on every event.
CREATE OR REPLACE FUNCTION tell(p_run uuid, p_stage text, p_attempt integer, p_call integer, p_type text, p_agent text,
    p_payload json)
RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    told_by text := concat_ws('/', p_attempt, p_call, p_stage);
    number bigint;
BEGIN
    PERFORM FROM ledgers l WHERE l.run_id = p_run FOR NO KEY UPDATE;
    IF NOT FOUND THEN
        RETURN NULL;
    END IF;
    IF NOT EXISTS (SELECT FROM stages s WHERE s.run_id = p_run AND s.stage = p_stage AND s.attempt = p_attempt) THEN
        RETURN 0;
    END IF;
    SELECT e.seq INTO number FROM events e WHERE e.run_id = p_run AND e.origin = told_by;
    IF NOT FOUND THEN
        number := append_event(p_run, p_type, p_agent, p_payload);
        UPDATE events e SET origin = told_by WHERE e.run_id = p_run AND e.seq = number;
    END IF;
    RETURN number;
END
$$;

-- Tell webhooks what a schedule found, in the transaction that finds it.
CREATE OR REPLACE FUNCTION tell_of_changes() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM tell_webhooks(NEW.organisation_id, 'schedule.changed', jsonb_build_object(
        'schedule_id', NEW.schedule_id, 'due_at', NEW.due_at, 'run_id', NEW.run_id, 'baseline_id', NEW.baseline_id));
    -- Number 0 is of no event: whoever listens looks at what waits for webhooks, and at nothing else.
    PERFORM pg_notify('rubrica_events', NEW.schedule_id || ':0');
    RETURN NULL;
END
$$;

CREATE OR REPLACE TRIGGER schedule_firings_tell AFTER UPDATE OF outcome ON schedule_firings FOR EACH ROW
    WHEN (OLD.outcome IS DISTINCT FROM NEW.outcome AND NEW.outcome = 'changed') EXECUTE FUNCTION tell_of_changes();

-- Tell webhooks that a run's status changed, in the transaction that changes it. Runs made on behalf of another are no news: a
-- comparison's second report must stay blind, and a fleet would tell of each of its questions.
CREATE OR REPLACE FUNCTION tell_of_status() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM tell_webhooks(NEW.organisation_id, 'run.' || NEW.status,
                          jsonb_build_object('run_id', NEW.id, 'status', NEW.status, 'detail', NEW.detail));
    RETURN NULL;
END
$$;

CREATE OR REPLACE TRIGGER runs_tell_of_status AFTER UPDATE OF status ON runs FOR EACH ROW
    WHEN (OLD.status IS DISTINCT FROM NEW.status AND NEW.status <> 'queued' AND NEW.made_for IS NULL AND NEW.fleet_id IS NULL)
    EXECUTE FUNCTION tell_of_status();

-- Queue a message for each endpoint of an organisation that wants this type.
CREATE OR REPLACE FUNCTION tell_webhooks(p_organisation uuid, p_type text, p_data jsonb) RETURNS void LANGUAGE sql AS $$
    INSERT INTO webhook_deliveries (organisation_id, webhook_id, type, body)
    SELECT w.organisation_id, w.id, p_type,
           jsonb_build_object('type', p_type, 'timestamp', to_char(now() AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'),
                              'data', p_data)::text
    FROM webhooks w WHERE w.organisation_id = p_organisation AND w.enabled AND (w.events = '{}' OR p_type = ANY(w.events))
$$;

-- Write one event under a number already taken from the ledger, and wake the watchers.
CREATE OR REPLACE FUNCTION write_event(p_run uuid, p_seq bigint, p_type text, p_agent text,
    p_payload json) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO events (run_id, seq, type, agent, payload) VALUES (p_run, p_seq, p_type, p_agent, p_payload);
    PERFORM pg_notify('rubrica_events', p_run || ':' || p_seq);
END
$$;
