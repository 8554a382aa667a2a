-- What workers share about calls to the world outside. Each function is one round trip; the clock is the database's.

-- Take a provider's next free slot: how long to wait for it, or no row when that is longer than `p_longest` (then none is taken).
-- A token bucket written as a time: `next_at` is when the bucket has its next token, `p_burst` is how many it holds.
CREATE FUNCTION take_slot(p_lane text, p_every interval, p_burst integer, p_longest interval) RETURNS SETOF interval
LANGUAGE sql AS $$
    INSERT INTO outside_limits AS l (lane, next_at) VALUES (p_lane, clock_timestamp() - p_every * (p_burst - 2))
    ON CONFLICT (lane) DO UPDATE SET next_at = greatest(l.next_at, clock_timestamp() - p_every * (p_burst - 1)) + p_every
        WHERE l.next_at <= clock_timestamp() + p_longest
    RETURNING greatest(next_at - p_every - clock_timestamp(), interval '0')
$$;

-- A kept result that is young enough; else the right to make the call (`mine`), unless another worker is making it.
-- A claim that its holder did not live to give back ends by itself after `p_lease`.
CREATE FUNCTION begin_call(p_key text, p_max_age interval, p_lease interval,
                           OUT body bytea, OUT fetched_at timestamptz, OUT age interval, OUT mine boolean)
LANGUAGE plpgsql AS $$
BEGIN
    SELECT r.body, r.fetched_at, clock_timestamp() - r.fetched_at INTO body, fetched_at, age FROM outside_results r
        WHERE r.key = p_key AND r.body IS NOT NULL AND r.fetched_at > clock_timestamp() - p_max_age;
    mine := false;
    IF NOT FOUND THEN
        INSERT INTO outside_results AS r (key, claimed_until) VALUES (p_key, clock_timestamp() + p_lease)
            ON CONFLICT (key) DO UPDATE SET claimed_until = excluded.claimed_until
                WHERE r.claimed_until IS NULL OR r.claimed_until < clock_timestamp();
        mine := FOUND;
    END IF;
END
$$;

-- Keep a result and the texts it speaks of, and give back the claim; when it was fetched.
CREATE FUNCTION finish_call(p_key text, p_body bytea, p_hashes text[], p_texts bytea[]) RETURNS timestamptz LANGUAGE sql AS $$
    INSERT INTO outside_texts AS t (hash, body)
        SELECT given.hash, given.body FROM unnest(p_hashes, p_texts) AS given (hash, body) ORDER BY given.hash
        ON CONFLICT (hash) DO UPDATE SET fetched_at = now() WHERE t.fetched_at < now() - interval '1 day';
    INSERT INTO outside_results (key, body, fetched_at) VALUES (p_key, p_body, clock_timestamp())
        ON CONFLICT (key) DO UPDATE SET body = excluded.body, fetched_at = excluded.fetched_at, claimed_until = NULL
        RETURNING fetched_at
$$;

-- Forget results older than `p_max_age`, the oldest ones beyond `p_max_bytes`, dead claims, full buckets, and texts older than
-- `p_max_text_age` (those that a finding cites were copied to `snapshots`). How many results were forgotten.
CREATE FUNCTION sweep_outside(p_max_age interval, p_max_bytes bigint, p_max_text_age interval) RETURNS bigint LANGUAGE sql AS $$
    DELETE FROM outside_limits WHERE next_at < clock_timestamp() - interval '1 hour';
    DELETE FROM outside_texts WHERE fetched_at < now() - p_max_text_age;
    WITH kept AS (
        SELECT key, sum(octet_length(body) + 200) OVER (ORDER BY fetched_at DESC, key) AS total FROM outside_results WHERE body IS NOT NULL),
    gone AS (
        DELETE FROM outside_results r USING (SELECT key FROM outside_results) all_keys LEFT JOIN kept USING (key)
        WHERE r.key = all_keys.key AND (r.claimed_until IS NULL OR r.claimed_until < clock_timestamp())
          AND (kept.key IS NULL OR kept.total > p_max_bytes OR r.fetched_at < clock_timestamp() - p_max_age)
        RETURNING 1)
    SELECT count(*) FROM gone
$$;
