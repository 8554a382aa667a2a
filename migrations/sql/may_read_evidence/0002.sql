-- Whoever acts may read what a run gathered: they may use, now, every collection that its evidence came of. A run without own
-- collections has no evidence that anybody in its organisation may not read. Who acts for nobody may use no collection.
CREATE OR REPLACE FUNCTION may_read_evidence(p_run uuid) RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT NOT EXISTS (SELECT FROM collection_runs s WHERE s.run_id = p_run
                       AND NOT EXISTS (SELECT FROM collections c WHERE c.id = s.collection_id AND may_use(c)))
$$;
