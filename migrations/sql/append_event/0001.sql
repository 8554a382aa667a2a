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
