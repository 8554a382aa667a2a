-- Tell webhooks what a schedule found, in the transaction that finds it.
CREATE OR REPLACE FUNCTION tell_of_changes() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM tell_webhooks(NEW.organisation_id, 'schedule.changed', jsonb_build_object(
        'schedule_id', NEW.schedule_id, 'due_at', NEW.due_at, 'run_id', NEW.run_id, 'baseline_id', NEW.baseline_id));
    -- Number 0 is of no event: whoever listens looks at what waits for webhooks, and at nothing else.
    PERFORM pg_notify('rubrica_events', NEW.schedule_id || ':0');
    RETURN NULL;
END
$$;

CREATE OR REPLACE TRIGGER schedule_firings_tell AFTER UPDATE OF outcome ON schedule_firings FOR EACH ROW
    WHEN (OLD.outcome IS DISTINCT FROM NEW.outcome AND NEW.outcome = 'changed') EXECUTE FUNCTION tell_of_changes();
