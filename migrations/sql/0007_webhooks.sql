-- Messages for webhooks are written in the transaction of what they tell, so that none is lost and none tells what did not happen.

-- Queue a message for each endpoint of an organisation that wants this type.
CREATE FUNCTION tell_webhooks(p_organisation uuid, p_type text, p_data jsonb) RETURNS void LANGUAGE sql AS $$
    INSERT INTO webhook_deliveries (organisation_id, webhook_id, type, body)
    SELECT w.organisation_id, w.id, p_type,
           jsonb_build_object('type', p_type, 'timestamp', to_char(now() AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'),
                              'data', p_data)::text
    FROM webhooks w WHERE w.organisation_id = p_organisation AND w.enabled AND (w.events = '{}' OR p_type = ANY(w.events))
$$;

CREATE FUNCTION tell_of_status() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM tell_webhooks(NEW.organisation_id, 'run.' || NEW.status,
                          jsonb_build_object('run_id', NEW.id, 'status', NEW.status, 'detail', NEW.detail));
    RETURN NULL;
END
$$;

CREATE TRIGGER runs_tell_of_status AFTER UPDATE OF status ON runs FOR EACH ROW
    WHEN (OLD.status IS DISTINCT FROM NEW.status AND NEW.status <> 'queued') EXECUTE FUNCTION tell_of_status();

-- Take the messages that are due, at most `p_each` of an endpoint and none of those in `p_busy`, so that a slow one holds up no
-- other. Whoever takes one has `p_lease` to report what became of it; then it is due again.
CREATE FUNCTION take_deliveries(p_limit integer, p_each integer, p_lease interval, p_busy uuid[])
RETURNS TABLE (id uuid, webhook_id uuid, url text, secret text, previous_secret text, body text, attempts integer)
LANGUAGE sql AS $$
    WITH due AS (
        SELECT d.id, row_number() OVER (PARTITION BY d.webhook_id ORDER BY d.next_attempt_at) AS place, d.next_attempt_at
        FROM webhook_deliveries d
        WHERE d.state = 'pending' AND d.next_attempt_at <= now() AND d.webhook_id <> ALL(p_busy)),
    taken AS (
        SELECT d.id FROM webhook_deliveries d JOIN due ON due.id = d.id WHERE due.place <= p_each
        ORDER BY due.next_attempt_at LIMIT p_limit FOR UPDATE OF d SKIP LOCKED),
    claimed AS (
        UPDATE webhook_deliveries d SET attempts = d.attempts + 1, next_attempt_at = now() + p_lease FROM taken WHERE d.id = taken.id
        RETURNING d.id, d.webhook_id, d.body, d.attempts)
    SELECT c.id, c.webhook_id, w.url, w.secret, CASE WHEN w.previous_until > now() THEN w.previous_secret END, c.body, c.attempts
    FROM claimed c JOIN webhooks w ON w.id = c.webhook_id
$$;

-- Report an attempt. `p_again_in` is when to try again, null for never. An endpoint that has failed for `p_patience`, or says that it
-- is gone, is turned off with the reason, and what waited for it has failed.
CREATE FUNCTION report_delivery(p_id uuid, p_delivered boolean, p_status integer, p_error text, p_again_in interval,
                                p_gone boolean, p_patience interval) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    hook uuid;
    since timestamptz;
BEGIN
    -- An endpoint that was turned off meanwhile is not tried again.
    UPDATE webhook_deliveries d SET
        state = CASE WHEN p_delivered THEN 'delivered' WHEN p_again_in IS NULL OR NOT w.enabled THEN 'failed' ELSE 'pending' END,
        status = p_status, error = CASE WHEN w.enabled THEN p_error ELSE d.error END,
        next_attempt_at = CASE WHEN w.enabled THEN now() + p_again_in END,
        delivered_at = CASE WHEN p_delivered THEN now() END
        FROM webhooks w WHERE d.id = p_id AND w.id = d.webhook_id RETURNING d.webhook_id INTO hook;
    IF p_delivered THEN
        UPDATE webhooks w SET failing_since = NULL WHERE w.id = hook AND w.failing_since IS NOT NULL;
        RETURN;
    END IF;
    UPDATE webhooks w SET failing_since = coalesce(w.failing_since, now()) WHERE w.id = hook RETURNING w.failing_since INTO since;
    IF p_gone OR since < now() - p_patience THEN
        UPDATE webhooks w SET enabled = false,
            disabled_reason = CASE WHEN p_gone THEN 'the endpoint answered 410 Gone' ELSE 'no delivery has succeeded for days: ' || p_error END
            WHERE w.id = hook AND w.enabled;
        UPDATE webhook_deliveries d SET state = 'failed', next_attempt_at = NULL WHERE d.webhook_id = hook AND d.state = 'pending';
    END IF;
END
$$;

-- The API's role may set a secret and not read one: the old one is put aside here, and signs beside the new one for a day.
CREATE FUNCTION put_secret_aside() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.previous_secret := OLD.secret;
    NEW.previous_until := now() + interval '1 day';
    RETURN NEW;
END
$$;

CREATE TRIGGER webhooks_put_secret_aside BEFORE UPDATE OF secret ON webhooks FOR EACH ROW EXECUTE FUNCTION put_secret_aside();
