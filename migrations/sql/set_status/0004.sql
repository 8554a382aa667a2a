-- Move a run to another status; the number of the event, or null when nothing changed (same status and detail, or finished:
-- the first final status stays). The clock of the time cap runs only while the status is `running`. A finished run's control
-- stays on `cancel`, so that a stage that outlived it stops at its next turn.
CREATE OR REPLACE FUNCTION set_status(p_run uuid, p_status text, p_detail text,
    p_extra json) RETURNS bigint LANGUAGE plpgsql AS $$
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
        active_seconds = active_seconds_of(l),
        running_since = CASE WHEN p_status = 'running' THEN now() END,
        control = CASE WHEN finished THEN 'cancel' ELSE l.control END
        WHERE l.run_id = p_run;
    RETURN append_event(p_run, 'status_changed', '',
                        (jsonb_build_object('status', p_status, 'detail', p_detail) || p_extra::jsonb)::json);
END
$$;
