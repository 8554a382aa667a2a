-- Write one event under a number already taken from the ledger, and wake the watchers.
CREATE OR REPLACE FUNCTION write_event(p_run uuid, p_seq bigint, p_type text, p_agent text,
    p_payload json) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO events (run_id, seq, type, agent, payload) VALUES (p_run, p_seq, p_type, p_agent, p_payload);
    PERFORM pg_notify('rubrica_events', p_run || ':' || p_seq);
END
$$;
