-- The time by which data is past its time: that of the latest look at the clock which is a day old, null when there is none. A clock
-- that is set forward deletes nothing before it has gone on for a day.
CREATE OR REPLACE FUNCTION settled_now() RETURNS timestamptz LANGUAGE sql STABLE AS $$
    SELECT max(at) FROM clock_looks WHERE at <= now() - interval '1 day'
$$;
