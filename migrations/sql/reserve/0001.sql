-- Exchange a reservation for another outside a turn (an agent that starts, one that ended, a call larger than foreseen).
-- `p_call` numbers the attempt's exchanges: one that is sent twice is made once. One that moves nothing need not be remembered.
CREATE OR REPLACE FUNCTION reserve(p_run uuid, p_stage text, p_attempt integer, p_released_tokens bigint, p_released_cost bigint,
    p_next_tokens bigint, p_next_cost bigint, p_call integer DEFAULT NULL, OUT halt text, OUT granted boolean)
LANGUAGE plpgsql AS $$
DECLARE
    ledger ledgers;
    opened stages;
    call_key text := concat_ws('/', 'reserve', p_attempt, p_call);
    more_tokens bigint;
    more_cost bigint;
BEGIN
    SELECT * INTO ledger FROM ledgers l WHERE l.run_id = p_run FOR NO KEY UPDATE;
    SELECT * INTO opened FROM stages s WHERE s.run_id = p_run AND s.stage = p_stage;
    IF opened.attempt IS NULL THEN
        RETURN;
    END IF;
    IF opened.attempt <> p_attempt THEN
        halt := 'superseded';
        granted := false;
        RETURN;
    END IF;
    IF p_call IS NOT NULL AND opened.answered ? call_key THEN
        granted := (opened.answered -> call_key)::boolean;
        halt := halt_of(ledger.control, opened.dropped, granted);
        RETURN;
    END IF;
    ledger.reserved_tokens := ledger.reserved_tokens - p_released_tokens;
    ledger.reserved_cost_microusd := ledger.reserved_cost_microusd - p_released_cost;
    granted := p_next_tokens IS NULL OR budget_allows(ledger, p_next_tokens, p_next_cost);
    halt := halt_of(ledger.control, opened.dropped, granted);
    more_tokens := CASE WHEN granted THEN coalesce(p_next_tokens, 0) ELSE 0 END - p_released_tokens;
    more_cost := CASE WHEN granted THEN coalesce(p_next_cost, 0) ELSE 0 END - p_released_cost;
    IF more_tokens <> 0 OR more_cost <> 0 THEN
        UPDATE ledgers l SET reserved_tokens = l.reserved_tokens + more_tokens,
                             reserved_cost_microusd = l.reserved_cost_microusd + more_cost
            WHERE l.run_id = p_run;
        UPDATE stages s SET reserved_tokens = s.reserved_tokens + more_tokens,
                            reserved_cost_microusd = s.reserved_cost_microusd + more_cost,
                            answered = CASE WHEN p_call IS NULL THEN s.answered
                                            ELSE s.answered || jsonb_build_object(call_key, granted) END
            WHERE s.run_id = p_run AND s.stage = p_stage;
    END IF;
END
$$;
