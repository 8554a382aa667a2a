-- Take the messages that are due, at most `p_each` of an endpoint and none of those in `p_busy`, so that a slow one holds up no
-- other. Whoever takes one has `p_lease` to report what became of it; then it is due again. One that was never tried is due, and
-- none waits longer than a day: a later time was written before the clock was set back.
CREATE OR REPLACE FUNCTION take_deliveries(p_limit integer, p_each integer, p_lease interval, p_busy uuid[])
RETURNS TABLE (id uuid, webhook_id uuid, url text, secret text, previous_secret text, body text, attempts integer)
LANGUAGE sql AS $$
    WITH due AS (
        SELECT d.id, row_number() OVER (PARTITION BY d.webhook_id ORDER BY d.next_attempt_at) AS place, d.next_attempt_at
        FROM webhook_deliveries d
        WHERE d.state = 'pending' AND d.webhook_id <> ALL(p_busy)
          AND (d.attempts = 0 OR d.next_attempt_at NOT BETWEEN now() AND now() + interval '1 day')),
    taken AS (
        SELECT d.id FROM webhook_deliveries d JOIN due ON due.id = d.id WHERE due.place <= p_each
        ORDER BY due.next_attempt_at LIMIT p_limit FOR UPDATE OF d SKIP LOCKED),
    claimed AS (
        UPDATE webhook_deliveries d SET attempts = d.attempts + 1, next_attempt_at = now() + p_lease FROM taken WHERE d.id = taken.id
        RETURNING d.id, d.webhook_id, d.body, d.attempts)
    SELECT c.id, c.webhook_id, w.url, w.secret, CASE WHEN w.previous_until BETWEEN now() AND now() + interval '1 day' THEN w.previous_secret END, c.body, c.attempts
    FROM claimed c JOIN webhooks w ON w.id = c.webhook_id
$$;
