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
