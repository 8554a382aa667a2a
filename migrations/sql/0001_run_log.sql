-- The run log: one round trip for each step of a run.
--
-- Every function that writes locks the run's ledger row first and holds it to the end of its transaction. So sequence
-- numbers have no gaps, totals are exact whoever writes in parallel, and events become visible in the order of their numbers.
-- Lock order is always ledger, then stage; snapshots are inserted in the order of their hashes before the ledger is locked.

-- True when one more reservation fits under the caps, counting what is spent and every live reservation.
CREATE FUNCTION budget_allows(ledger ledgers, tokens bigint, cost bigint) RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT (ledger.max_tokens IS NULL
            OR ledger.input_tokens + ledger.output_tokens + ledger.reserved_tokens + tokens <= ledger.max_tokens)
       AND (ledger.max_cost_microusd IS NULL
            OR ledger.cost_microusd + ledger.reserved_cost_microusd + cost <= ledger.max_cost_microusd)
       AND (ledger.max_seconds IS NULL
            OR ledger.active_seconds + coalesce(extract(epoch FROM now() - ledger.running_since), 0) < ledger.max_seconds)
$$;

-- True when tokens or money have a cap.
CREATE FUNCTION is_capped(ledger ledgers) RETURNS boolean LANGUAGE sql IMMUTABLE AS $$
    SELECT ledger.max_tokens IS NOT NULL OR ledger.max_cost_microusd IS NOT NULL
$$;

-- What a stage must do before its next turn. A reader's word outranks the budget.
CREATE FUNCTION halt_of(control text, dropped boolean, granted boolean) RETURNS text LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE WHEN control <> 'none' THEN control WHEN dropped THEN 'dropped' WHEN NOT granted THEN 'budget' ELSE 'none' END
$$;

-- Write one event under a number already taken from the ledger, and wake the watchers.
CREATE FUNCTION write_event(p_run uuid, p_seq bigint, p_type text, p_agent text, p_payload json) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO events (run_id, seq, type, agent, payload) VALUES (p_run, p_seq, p_type, p_agent, p_payload);
    PERFORM pg_notify('rubrica_events', p_run || ':' || p_seq);
END
$$;

-- Append an event; its number. Null when there is no such run.
CREATE FUNCTION append_event(p_run uuid, p_type text, p_agent text, p_payload json) RETURNS bigint LANGUAGE plpgsql AS $$
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

-- Open a stage, or open it again after its worker died: its dead reservations are released, its turns handed over.
-- The reader's notes are pinned when the stage is first opened, so that a repeated attempt reads what the first one read.
-- A finished stage only hands over its result. A stage that must not start (halt) appends no event. Without a reservation
-- (null) the budget is not asked: a stage that spends nothing always may run. `needed` are the results of the stages `p_needs`,
-- null where one has none; `asked_on` is the day (UTC) on which the run was created. `capped` tells whether tokens or money have a
-- cap, here and with every stored turn: without one nobody need ask for a reservation.
CREATE FUNCTION open_stage(p_run uuid, p_stage text, p_title text, p_tokens bigint, p_cost bigint, p_needs text[],
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

-- Store one turn: insert it, add its usage, release its reservation, reserve for the agent's next call, append its event.
-- Sent twice, it is stored and billed once and answers the same. From an attempt that another has replaced, only the bill is
-- taken: its answer was paid for, but the record belongs to the attempt that runs now.
CREATE FUNCTION store_turn(p_run uuid, p_stage text, p_attempt integer, p_agent text, p_ordinal integer, p_kind text, p_step text,
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
BEGIN
    SELECT * INTO ledger FROM ledgers l WHERE l.run_id = p_run FOR NO KEY UPDATE;
    SELECT s.attempt, s.dropped INTO current_attempt, is_dropped FROM stages s WHERE s.run_id = p_run AND s.stage = p_stage;
    IF current_attempt IS NULL THEN
        RETURN;
    END IF;
    capped := is_capped(ledger);
    SELECT t.revision, t.digest, t.seq, t.granted INTO earlier FROM turns t
        WHERE t.run_id = p_run AND t.stage = p_stage AND t.agent = p_agent AND t.ordinal = p_ordinal
        ORDER BY t.revision DESC LIMIT 1;
    IF FOUND THEN
        IF earlier.digest = p_digest AND current_attempt = p_attempt THEN
            seq := earlier.seq;
            granted := earlier.granted;
            halt := halt_of(ledger.control, is_dropped, granted);
            RETURN;
        END IF;
        next_revision := earlier.revision + 1;
    END IF;

    ledger.model_calls := ledger.model_calls + p_model_calls;
    ledger.tool_calls := ledger.tool_calls + p_tool_calls;
    ledger.input_tokens := ledger.input_tokens + p_input;
    ledger.output_tokens := ledger.output_tokens + p_output;
    ledger.cost_microusd := ledger.cost_microusd + p_cost;
    IF current_attempt <> p_attempt THEN
        UPDATE ledgers l SET model_calls = ledger.model_calls, tool_calls = ledger.tool_calls, input_tokens = ledger.input_tokens,
                             output_tokens = ledger.output_tokens, cost_microusd = ledger.cost_microusd, updated_at = now()
            WHERE l.run_id = p_run;
        seq := ledger.last_seq;
        halt := 'superseded';
        granted := false;
        RETURN;
    END IF;

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
    UPDATE stages s SET reserved_tokens = s.reserved_tokens - p_released_tokens
                                          + CASE WHEN granted THEN coalesce(p_next_tokens, 0) ELSE 0 END,
                        reserved_cost_microusd = s.reserved_cost_microusd - p_released_cost
                                                 + CASE WHEN granted THEN coalesce(p_next_cost, 0) ELSE 0 END
        WHERE s.run_id = p_run AND s.stage = p_stage;
    INSERT INTO turns (run_id, stage, agent, ordinal, revision, seq, kind, step, digest, granted, body)
        VALUES (p_run, p_stage, p_agent, p_ordinal, next_revision, seq, p_kind, p_step, p_digest, granted, p_body);
    PERFORM write_event(p_run, seq, p_type, p_agent, p_payload);
END
$$;

-- Exchange a reservation for another outside a turn (an agent that starts, one that ended, a call larger than foreseen).
CREATE FUNCTION reserve(p_run uuid, p_stage text, p_attempt integer, p_released_tokens bigint, p_released_cost bigint,
                        p_next_tokens bigint, p_next_cost bigint, OUT halt text, OUT granted boolean)
LANGUAGE plpgsql AS $$
DECLARE
    ledger ledgers;
    current_attempt integer;
    is_dropped boolean;
BEGIN
    SELECT * INTO ledger FROM ledgers l WHERE l.run_id = p_run FOR NO KEY UPDATE;
    SELECT s.attempt, s.dropped INTO current_attempt, is_dropped FROM stages s WHERE s.run_id = p_run AND s.stage = p_stage;
    IF current_attempt IS NULL THEN
        RETURN;
    END IF;
    IF current_attempt <> p_attempt THEN
        halt := 'superseded';
        granted := false;
        RETURN;
    END IF;
    ledger.reserved_tokens := ledger.reserved_tokens - p_released_tokens;
    ledger.reserved_cost_microusd := ledger.reserved_cost_microusd - p_released_cost;
    granted := p_next_tokens IS NULL OR budget_allows(ledger, p_next_tokens, p_next_cost);
    halt := halt_of(ledger.control, is_dropped, granted);
    UPDATE ledgers l SET reserved_tokens = ledger.reserved_tokens + CASE WHEN granted THEN coalesce(p_next_tokens, 0) ELSE 0 END,
                         reserved_cost_microusd = ledger.reserved_cost_microusd
                                                  + CASE WHEN granted THEN coalesce(p_next_cost, 0) ELSE 0 END
        WHERE l.run_id = p_run;
    UPDATE stages s SET reserved_tokens = s.reserved_tokens - p_released_tokens
                                          + CASE WHEN granted THEN coalesce(p_next_tokens, 0) ELSE 0 END,
                        reserved_cost_microusd = s.reserved_cost_microusd - p_released_cost
                                                 + CASE WHEN granted THEN coalesce(p_next_cost, 0) ELSE 0 END
        WHERE s.run_id = p_run AND s.stage = p_stage;
END
$$;

-- Close a stage with its result: keep the cited snapshots, release what it still had reserved, append `stage_finished`.
-- The first result stays: closing again answers false and changes nothing, as does an attempt that another has replaced.
CREATE FUNCTION close_stage(p_run uuid, p_stage text, p_attempt integer, p_result bytea, p_hashes text[], p_texts bytea[],
                            p_payload json) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
    ledger ledgers;
    open_stage stages;
BEGIN
    INSERT INTO snapshots (hash, body)
        SELECT given.hash, given.body FROM unnest(p_hashes, p_texts) AS given (hash, body) ORDER BY given.hash ON CONFLICT DO NOTHING;
    SELECT * INTO ledger FROM ledgers l WHERE l.run_id = p_run FOR NO KEY UPDATE;
    SELECT * INTO open_stage FROM stages s WHERE s.run_id = p_run AND s.stage = p_stage AND s.attempt = p_attempt AND NOT s.done;
    IF NOT FOUND THEN
        RETURN false;
    END IF;
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

-- Move a run to another status; the number of the event, or null when nothing changed (same status and detail, or finished:
-- the first final status stays). The clock of the time cap runs only while the status is `running`. A finished run's control
-- stays on `cancel`, so that a stage that outlived it stops at its next turn.
CREATE FUNCTION set_status(p_run uuid, p_status text, p_detail text, p_extra json) RETURNS bigint LANGUAGE plpgsql AS $$
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
