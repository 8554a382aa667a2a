-- Forget results older than `p_max_age`, the oldest ones beyond `p_max_bytes`, dead claims, full buckets, and texts older than
-- `p_max_text_age` (those that a finding cites were copied to `snapshots`). How many results were forgotten.
CREATE OR REPLACE FUNCTION sweep_outside(p_max_age interval, p_max_bytes bigint,
    p_max_text_age interval) RETURNS bigint LANGUAGE sql AS $$
    DELETE FROM outside_limits WHERE next_at < clock_timestamp() - interval '1 hour';
    DELETE FROM outside_texts WHERE fetched_at < settled_now() - p_max_text_age;
    WITH kept AS (
        SELECT key, sum(octet_length(body) + 200) OVER (ORDER BY fetched_at DESC, key) AS total FROM outside_results WHERE body IS NOT NULL),
    gone AS (
        DELETE FROM outside_results r USING (SELECT key FROM outside_results) all_keys LEFT JOIN kept USING (key)
        WHERE r.key = all_keys.key AND (r.claimed_until IS NULL OR r.claimed_until < clock_timestamp())
          AND (kept.key IS NULL OR kept.total > p_max_bytes OR r.fetched_at < clock_timestamp() - p_max_age)
        RETURNING 1)
    SELECT count(*) FROM gone
$$;
