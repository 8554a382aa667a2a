-- Keep a result and the texts it speaks of, and give back the claim; when it was fetched.
CREATE OR REPLACE FUNCTION finish_call(p_key text, p_body bytea, p_hashes text[],
    p_texts bytea[]) RETURNS timestamptz LANGUAGE sql AS $$
    INSERT INTO outside_texts AS t (hash, body)
        SELECT given.hash, given.body FROM unnest(p_hashes, p_texts) AS given (hash, body) ORDER BY given.hash
        ON CONFLICT (hash) DO UPDATE SET fetched_at = now() WHERE t.fetched_at < now() - interval '1 day';
    INSERT INTO outside_results (key, body, fetched_at) VALUES (p_key, p_body, clock_timestamp())
        ON CONFLICT (key) DO UPDATE SET body = excluded.body, fetched_at = excluded.fetched_at, claimed_until = NULL
        RETURNING fetched_at
$$;
