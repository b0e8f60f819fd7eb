-- Up Migration
SET LOCAL lock_timeout = '500ms';
SELECT begin_days('call_turns');

-- Down Migration
-- Never: a database only moves forward.
