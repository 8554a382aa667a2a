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
