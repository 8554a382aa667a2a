-- Whether the acting person may give a role in the organisation that is acted for: as an owner any, as an admin those up to admin.
-- A policy of `memberships` calls it. A function, as a policy that reads its own table in place would have no end.
CREATE OR REPLACE FUNCTION may_give(p_role text) RETURNS boolean
LANGUAGE sql STABLE AS $$
    SELECT EXISTS (SELECT FROM memberships m
                   WHERE m.organisation_id = current_organisation()
                     AND m.user_id = nullif(current_setting('rubrica.user', true), '')::uuid
                     AND (m.role = 'owner' OR (m.role = 'admin' AND p_role <> 'owner')))
$$;
