-- Up Migration
SET LOCAL lock_timeout = '500ms';
LOCK TABLE call_events IN ACCESS EXCLUSIVE MODE;
ALTER TABLE call_events DROP CONSTRAINT call_events_pkey;
ALTER TABLE call_events ADD CONSTRAINT call_events_pkey PRIMARY KEY USING INDEX call_events_of_call;
-- The key has the same columns.
DROP INDEX call_events_call;

-- A partition may have no identity of its own. Ids go on where they were: readers of events ask for what is after the last that they have.
CREATE SEQUENCE call_events_ids;
DO $$
BEGIN
  EXECUTE format('SELECT setval(''call_events_ids'', last_value, is_called) FROM %s', pg_get_serial_sequence('call_events', 'id'));
END
$$;
ALTER TABLE call_events ALTER COLUMN id DROP IDENTITY;
ALTER TABLE call_events ALTER COLUMN id SET DEFAULT nextval('call_events_ids');
SELECT begin_days('call_events');
ALTER SEQUENCE call_events_ids OWNED BY call_events.id;

DROP FUNCTION begin_days(text);
DROP FUNCTION copy_grants(text, text);

-- Down Migration
-- Never: a database only moves forward.
