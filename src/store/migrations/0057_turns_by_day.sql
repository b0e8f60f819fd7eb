-- Up Migration
-- An autovacuum is displaced by this, as in 0054.
SET LOCAL lock_timeout = '3s';
LOCK TABLE call_turns IN SHARE UPDATE EXCLUSIVE MODE;
SET LOCAL lock_timeout = '500ms';
SELECT begin_days('call_turns');

-- Down Migration
-- Never: a database only moves forward.
