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
