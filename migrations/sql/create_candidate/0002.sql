-- Add a run that writes a second report over the evidence of `p_from`: its plan, its rubric, its finished searches and its reader's
-- notes are copied, so that only the report is left to be made, and which collections its evidence came of. A subtask that was
-- dropped after it had found something keeps that. `p_stages` and `p_results` stand in for searches that left no result. Its sources are those of the run it was made for, which it
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
    INSERT INTO collection_runs (collection_id, run_id)
        SELECT s.collection_id, p_run FROM collection_runs s WHERE s.run_id = p_from;
    INSERT INTO run_rubrics (run_id, drafted, rubric, edited_at)
        SELECT p_run, u.drafted, u.rubric, u.edited_at FROM run_rubrics u WHERE u.run_id = p_from;
    INSERT INTO notes (run_id, seq, text, at)
        SELECT p_run, n.seq - max(n.seq) OVER (), n.text, n.at FROM notes n WHERE n.run_id = p_from;
END
$$;
