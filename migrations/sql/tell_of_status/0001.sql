-- Tell webhooks that a run's status changed, in the transaction that changes it. Runs made on behalf of another are no news: a
-- comparison's second report must stay blind, and a fleet would tell of each of its questions.
CREATE OR REPLACE FUNCTION tell_of_status() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM tell_webhooks(NEW.organisation_id, 'run.' || NEW.status,
                          jsonb_build_object('run_id', NEW.id, 'status', NEW.status, 'detail', NEW.detail));
    RETURN NULL;
END
$$;

CREATE OR REPLACE TRIGGER runs_tell_of_status AFTER UPDATE OF status ON runs FOR EACH ROW
    WHEN (OLD.status IS DISTINCT FROM NEW.status AND NEW.status <> 'queued' AND NEW.made_for IS NULL AND NEW.fleet_id IS NULL)
    EXECUTE FUNCTION tell_of_status();
