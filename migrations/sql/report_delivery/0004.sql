-- Report an attempt. `p_again_in` is when to try again, null for never. An endpoint that has failed for `p_patience`, with all attempts
-- at a message (a clock that was set forward is no failure), or says that it is gone, is turned off with the reason, and what waited
-- for it has failed.
CREATE OR REPLACE FUNCTION report_delivery(p_id uuid, p_delivered boolean, p_status integer, p_error text, p_again_in interval,
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
    UPDATE webhooks w SET failing_since = least(w.failing_since, now()) WHERE w.id = hook RETURNING w.failing_since INTO since;
    IF p_gone OR (p_again_in IS NULL AND since < now() - p_patience) THEN
        UPDATE webhooks w SET enabled = false,
            disabled_reason = CASE WHEN p_gone THEN 'the endpoint answered 410 Gone' ELSE 'no delivery has succeeded for days: ' || p_error END
            WHERE w.id = hook AND w.enabled;
        UPDATE webhook_deliveries d SET state = 'failed', next_attempt_at = NULL WHERE d.webhook_id = hook AND d.state = 'pending';
    END IF;
END
$$;
