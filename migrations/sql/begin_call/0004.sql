-- A kept result that is young enough; else the right to make the call (`mine`), unless another worker is making it.
-- A claim that its holder did not live to give back ends by itself after `p_lease`. Neither a result from the future nor a longer
-- claim is believed: the clock was set back.
CREATE OR REPLACE FUNCTION begin_call(p_key text, p_max_age interval, p_lease interval,
    OUT body bytea, OUT fetched_at timestamptz, OUT age interval, OUT mine boolean)
LANGUAGE plpgsql AS $$
BEGIN
    SELECT r.body, r.fetched_at, clock_timestamp() - r.fetched_at INTO body, fetched_at, age FROM outside_results r
        WHERE r.key = p_key AND r.body IS NOT NULL AND r.fetched_at BETWEEN clock_timestamp() - p_max_age AND clock_timestamp();
    mine := false;
    IF NOT FOUND THEN
        INSERT INTO outside_results AS r (key, claimed_until) VALUES (p_key, clock_timestamp() + p_lease)
            ON CONFLICT (key) DO UPDATE SET claimed_until = excluded.claimed_until
                WHERE r.claimed_until IS NULL OR r.claimed_until NOT BETWEEN clock_timestamp() AND clock_timestamp() + p_lease;
        mine := FOUND;
    END IF;
END
$$;
