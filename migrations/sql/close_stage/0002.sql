-- Close a stage with its result: keep the cited snapshots and that this run cites them, release what it still had reserved, append
-- `stage_finished`. `p_hashes` names all of the stage's sources; those that are not stored yet come first, with their texts in
-- `p_texts`. Those that `p_open` names are open to everybody, such as pages of the web; any other may be an own document, and who may
-- not use the run's collections does not read it. The first result stays: closing again answers false and changes nothing, as does
-- an attempt that another has replaced.
CREATE OR REPLACE FUNCTION close_stage(p_run uuid, p_stage text, p_attempt integer, p_result bytea, p_hashes text[],
    p_texts bytea[],
    p_payload json, p_open text[] DEFAULT '{}') RETURNS boolean LANGUAGE plpgsql AS $$
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
    INSERT INTO run_sources AS s (hash, organisation_id, run_id, own)
        SELECT given, r.organisation_id, r.id, given <> ALL (p_open) FROM unnest(p_hashes) AS given, runs r WHERE r.id = p_run
        ON CONFLICT (hash, organisation_id, run_id) DO UPDATE SET own = false WHERE s.own AND NOT excluded.own;
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
