CREATE OR REPLACE FUNCTION close_stage(p_run uuid, p_stage text, p_attempt integer, p_result bytea, p_hashes text[], p_texts bytea[],
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
