-- True when one more reservation fits under the caps, counting what is spent and every live reservation.
CREATE OR REPLACE FUNCTION budget_allows(ledger ledgers, tokens bigint, cost bigint) RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT (ledger.max_tokens IS NULL
            OR ledger.input_tokens + ledger.output_tokens + ledger.reserved_tokens + tokens <= ledger.max_tokens)
       AND (ledger.max_cost_microusd IS NULL
            OR ledger.cost_microusd + ledger.reserved_cost_microusd + cost <= ledger.max_cost_microusd)
       AND (ledger.max_seconds IS NULL OR active_seconds_of(ledger) < ledger.max_seconds)
$$;
