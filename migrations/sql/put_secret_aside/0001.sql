-- The API's role may set a secret and not read one: the old one is put aside here, and signs beside the new one for a day.
CREATE OR REPLACE FUNCTION put_secret_aside() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.previous_secret := OLD.secret;
    NEW.previous_until := now() + interval '1 day';
    RETURN NEW;
END
$$;

CREATE OR REPLACE TRIGGER webhooks_put_secret_aside BEFORE UPDATE OF secret ON webhooks FOR EACH ROW EXECUTE FUNCTION put_secret_aside();
