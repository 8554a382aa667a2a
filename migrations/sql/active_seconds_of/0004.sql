-- How long a run has worked, in seconds. Each of its running stages looks every few seconds whether it must end, and moves
-- `running_since` along. So more than a minute since then was no work: no worker lived, the machine slept, or the clock jumped.
CREATE OR REPLACE FUNCTION active_seconds_of(ledger ledgers) RETURNS double precision LANGUAGE sql STABLE AS $$
    SELECT ledger.active_seconds + least(greatest(coalesce(extract(epoch FROM now() - ledger.running_since), 0), 0), 60)
$$;
