-- Queue a message for each endpoint of an organisation that wants this type.
CREATE OR REPLACE FUNCTION tell_webhooks(p_organisation uuid, p_type text, p_data jsonb) RETURNS void LANGUAGE sql AS $$
    INSERT INTO webhook_deliveries (organisation_id, webhook_id, type, body)
    SELECT w.organisation_id, w.id, p_type,
           jsonb_build_object('type', p_type, 'timestamp', to_char(now() AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'),
                              'data', p_data)::text
    FROM webhooks w WHERE w.organisation_id = p_organisation AND w.enabled AND (w.events = '{}' OR p_type = ANY(w.events))
$$;
