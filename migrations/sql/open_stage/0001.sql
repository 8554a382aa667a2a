-- Open a stage, or open it again after its worker died: its dead reservations are released, its turns handed over.
-- The reader's notes are pinned when the stage is first opened, so that a repeated attempt reads what the first one read.
-- A finished stage only hands over its result. A stage that must not start (halt) appends no event. Without a reservation
-- (null) the budget is not asked: a stage that spends nothing always may run. `needed` are the results of the stages `p_needs`,
-- null where one has none; `asked_on` is the day (UTC) on which the run was created. `capped` tells whether tokens or money have a
-- cap, here and with every stored turn: without one nobody need ask for a reservation.
CREATE OR REPLACE FUNCTION open_stage(p_run uuid, p_stage text, p_title text, p_tokens bigint, p_cost bigint, p_needs text[],
    OUT attempt integer, OUT result bytea, OUT turns bytea[], OUT notes text[], OUT halt text, OUT granted boolean,
    OUT needed bytea[], OUT asked_on date, OUT capped boolean)
LANGUAGE plpgsql AS $$
DECLARE
    ledger ledgers;
    opened stages;
BEGIN
    SELECT * INTO ledger FROM ledgers WHERE run_id = p_run FOR NO KEY UPDATE;
    IF NOT FOUND THEN
        RETURN;
    END IF;
    INSERT INTO stages AS s (run_id, stage, notes_upto) VALUES (p_run, p_stage, ledger.last_seq) ON CONFLICT DO NOTHING;
    SELECT * INTO opened FROM stages s WHERE s.run_id = p_run AND s.stage = p_stage;
    attempt := opened.attempt;
    capped := is_capped(ledger);
    SELECT (r.created_at AT TIME ZONE 'UTC')::date INTO asked_on FROM runs r WHERE r.id = p_run;
    IF opened.done THEN
        result := opened.result;
        halt := 'none';
        granted := false;
        RETURN;
    END IF;

    ledger.reserved_tokens := ledger.reserved_tokens - opened.reserved_tokens;
    ledger.reserved_cost_microusd := ledger.reserved_cost_microusd - opened.reserved_cost_microusd;
    granted := p_tokens IS NULL OR budget_allows(ledger, p_tokens, p_cost);
    halt := halt_of(ledger.control, opened.dropped, granted);
    granted := granted AND halt = 'none';
    attempt := opened.attempt + 1;

    SELECT array_agg(latest.body ORDER BY latest.seq) INTO turns FROM (
        SELECT DISTINCT ON (t.agent, t.ordinal) t.body, t.seq FROM turns t
        WHERE t.run_id = p_run AND t.stage = p_stage ORDER BY t.agent, t.ordinal, t.revision DESC
    ) latest;
    SELECT array_agg(n.text ORDER BY n.seq) INTO notes FROM notes n WHERE n.run_id = p_run AND n.seq <= opened.notes_upto;
    SELECT array_agg(s.result ORDER BY need.place) INTO needed FROM unnest(p_needs) WITH ORDINALITY AS need (stage, place)
        LEFT JOIN stages s ON s.run_id = p_run AND s.stage = need.stage;

    UPDATE ledgers l SET reserved_tokens = ledger.reserved_tokens + CASE WHEN granted THEN coalesce(p_tokens, 0) ELSE 0 END,
                         reserved_cost_microusd = ledger.reserved_cost_microusd + CASE WHEN granted THEN coalesce(p_cost, 0) ELSE 0 END,
                         last_seq = l.last_seq + CASE WHEN halt = 'none' THEN 1 ELSE 0 END, updated_at = now()
        WHERE l.run_id = p_run;
    UPDATE stages s SET attempt = opened.attempt + 1,
                        reserved_tokens = CASE WHEN granted THEN coalesce(p_tokens, 0) ELSE 0 END,
                        reserved_cost_microusd = CASE WHEN granted THEN coalesce(p_cost, 0) ELSE 0 END
        WHERE s.run_id = p_run AND s.stage = p_stage;
    IF halt = 'none' THEN
        PERFORM write_event(p_run, ledger.last_seq + 1, 'stage_started', p_stage,
                            json_build_object('stage', p_stage, 'title', p_title, 'attempt', attempt));
    END IF;
END
$$;
