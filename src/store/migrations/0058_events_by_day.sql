-- Up Migration
-- An autovacuum is displaced by this, as in 0054.
SET LOCAL lock_timeout = '3s';
LOCK TABLE call_events IN SHARE UPDATE EXCLUSIVE MODE;
SET LOCAL lock_timeout = '500ms';
LOCK TABLE call_events IN ACCESS EXCLUSIVE MODE;
ALTER TABLE call_events DROP CONSTRAINT call_events_pkey;
ALTER TABLE call_events ADD CONSTRAINT call_events_pkey PRIMARY KEY USING INDEX call_events_of_call;
-- The key has the same columns.
DROP INDEX call_events_call;

-- A partition may not bring an identity of its own. Ids go on where they were: readers of events ask for what is after the last that they
-- have.
DO $$
DECLARE
  ids text := pg_get_serial_sequence('call_events', 'id');
  rights aclitem[] := (SELECT relacl FROM pg_class WHERE oid = ids::regclass);
  last_id bigint;
  was_used boolean;
BEGIN
  EXECUTE format('SELECT last_value, is_called FROM %s', ids) INTO last_id, was_used;
  ALTER TABLE call_events ALTER COLUMN id DROP IDENTITY;
  PERFORM begin_days('call_events');
  ALTER TABLE call_events ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY;
  ids := pg_get_serial_sequence('call_events', 'id');
  PERFORM setval(ids, last_id, was_used);
  PERFORM give_rights((SELECT relname::text FROM pg_class WHERE oid = ids::regclass), rights);
END
$$;

DROP FUNCTION begin_days(text);

-- Down Migration
-- Never: a database only moves forward.
