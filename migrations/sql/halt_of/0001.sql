-- What a stage must do before its next turn. A reader's word outranks the budget.
CREATE OR REPLACE FUNCTION halt_of(control text, dropped boolean, granted boolean) RETURNS text LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE WHEN control <> 'none' THEN control WHEN dropped THEN 'dropped' WHEN NOT granted THEN 'budget' ELSE 'none' END
$$;
