-- True when tokens or money have a cap.
CREATE OR REPLACE FUNCTION is_capped(ledger ledgers) RETURNS boolean LANGUAGE sql IMMUTABLE AS $$
    SELECT ledger.max_tokens IS NOT NULL OR ledger.max_cost_microusd IS NOT NULL
$$;
