-- Take one token from a bucket that holds `p_burst` and gets one more every `p_every`: what is left, and, when there was none, how long
-- until there is one. The bucket is written as the time at which it will be full (the generic cell rate algorithm). No bucket takes
-- longer to fill than its burst: a later time was written before the clock was set back, and counts as an empty bucket.
CREATE OR REPLACE FUNCTION take_token(p_subject text, p_every interval, p_burst integer,
    OUT granted boolean, OUT remaining integer, OUT wait interval, OUT full_in interval)
LANGUAGE plpgsql AS $$
DECLARE
    full_at timestamptz;
    moment timestamptz := clock_timestamp();
    latest timestamptz := moment + p_every * p_burst;
BEGIN
    INSERT INTO rate_buckets AS b (subject, full_at) VALUES (p_subject, moment + p_every)
        ON CONFLICT (subject) DO UPDATE SET full_at = greatest(b.full_at, moment) + p_every
            WHERE greatest(b.full_at, moment) + p_every <= latest
        RETURNING b.full_at INTO full_at;
    granted := FOUND;
    IF NOT granted THEN
        UPDATE rate_buckets b SET full_at = latest WHERE b.subject = p_subject AND b.full_at > latest;
        SELECT b.full_at INTO full_at FROM rate_buckets b WHERE b.subject = p_subject;
    END IF;
    full_in := greatest(coalesce(full_at, moment) - moment, interval '0');
    remaining := floor(p_burst - extract(epoch FROM full_in) / extract(epoch FROM p_every));
    wait := CASE WHEN granted THEN interval '0' ELSE greatest(full_in + p_every - p_every * p_burst, interval '0') END;
END
$$;
