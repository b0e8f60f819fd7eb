-- Up Migration
-- Of what becomes partitioned by the call's id (0058), a key has to have that id in it.
CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS call_events_of_call ON call_events (call_uuid, id);

-- Down Migration
-- Never: a database only moves forward.
