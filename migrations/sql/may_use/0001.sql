-- Whoever acts may use a collection that is open to all, is theirs, names them or their role; owners and admins may use all.
CREATE OR REPLACE FUNCTION may_use(c collections) RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT c.organisation_id = current_organisation()
       AND (c.everyone OR c.created_by = nullif(current_setting('rubrica.user', true), '')::uuid
            OR nullif(current_setting('rubrica.user', true), '')::uuid = ANY (c.users)
            OR EXISTS (SELECT FROM memberships m WHERE m.organisation_id = c.organisation_id
                       AND m.user_id = nullif(current_setting('rubrica.user', true), '')::uuid
                       AND (m.role IN ('owner', 'admin') OR m.role = ANY (c.roles))))
$$;
