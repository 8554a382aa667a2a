-- As before requests that are sent twice were told apart.
DROP FUNCTION reserve;
CREATE FUNCTION reserve(p_run uuid, p_stage text, p_attempt integer, p_released_tokens bigint, p_released_cost bigint,
                        p_next_tokens bigint, p_next_cost bigint, OUT halt text, OUT granted boolean)
LANGUAGE plpgsql AS $$
DECLARE
    ledger ledgers;
    current_attempt integer;
    is_dropped boolean;
BEGIN
    SELECT * INTO ledger FROM ledgers l WHERE l.run_id = p_run FOR NO KEY UPDATE;
    SELECT s.attempt, s.dropped INTO current_attempt, is_dropped FROM stages s WHERE s.run_id = p_run AND s.stage = p_stage;
    IF current_attempt IS NULL THEN
        RETURN;
    END IF;
    IF current_attempt <> p_attempt THEN
        halt := 'superseded';
        granted := false;
        RETURN;
    END IF;
    ledger.reserved_tokens := ledger.reserved_tokens - p_released_tokens;
    ledger.reserved_cost_microusd := ledger.reserved_cost_microusd - p_released_cost;
    granted := p_next_tokens IS NULL OR budget_allows(ledger, p_next_tokens, p_next_cost);
    halt := halt_of(ledger.control, is_dropped, granted);
    UPDATE ledgers l SET reserved_tokens = ledger.reserved_tokens + CASE WHEN granted THEN coalesce(p_next_tokens, 0) ELSE 0 END,
                         reserved_cost_microusd = ledger.reserved_cost_microusd
                                                  + CASE WHEN granted THEN coalesce(p_next_cost, 0) ELSE 0 END
        WHERE l.run_id = p_run;
    UPDATE stages s SET reserved_tokens = s.reserved_tokens - p_released_tokens
                                          + CASE WHEN granted THEN coalesce(p_next_tokens, 0) ELSE 0 END,
                        reserved_cost_microusd = s.reserved_cost_microusd - p_released_cost
                                                 + CASE WHEN granted THEN coalesce(p_next_cost, 0) ELSE 0 END
        WHERE s.run_id = p_run AND s.stage = p_stage;
END
$$;
