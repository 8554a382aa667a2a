-- Whose rows the statement may see: what its transaction was told, or null.
CREATE OR REPLACE FUNCTION current_organisation() RETURNS uuid LANGUAGE sql STABLE PARALLEL SAFE AS $$
    SELECT nullif(current_setting('rubrica.organisation', true), '')::uuid
$$;
