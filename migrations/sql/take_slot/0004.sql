-- Take a provider's next free slot: how long to wait for it, or no row when that is longer than `p_longest` (then none is taken).
-- A token bucket written as a time: `next_at` is when the bucket has its next token, `p_burst` is how many it holds. A provider that
-- asks for patience is left alone for at most an hour: a later time was written before the clock was set back, and counts as none.
CREATE OR REPLACE FUNCTION take_slot(p_lane text, p_every interval, p_burst integer, p_longest interval) RETURNS SETOF interval
LANGUAGE sql AS $$
    INSERT INTO outside_limits AS l (lane, next_at) VALUES (p_lane, clock_timestamp() - p_every * (p_burst - 2))
    ON CONFLICT (lane) DO UPDATE SET next_at = p_every + greatest(
            CASE WHEN l.next_at <= clock_timestamp() + p_longest THEN l.next_at END, clock_timestamp() - p_every * (p_burst - 1))
        WHERE l.next_at <= clock_timestamp() + p_longest
           OR l.next_at > clock_timestamp() + greatest(p_longest + p_every, interval '1 hour')
    RETURNING greatest(next_at - p_every - clock_timestamp(), interval '0')
$$;
