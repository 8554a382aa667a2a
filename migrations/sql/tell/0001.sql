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
