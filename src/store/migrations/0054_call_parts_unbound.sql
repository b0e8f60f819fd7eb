-- Up Migration
-- Events and turns no longer refer to their call by a foreign key: whoever writes them has the call's row locked, and whoever removes a
-- call removes them first. With the key, every partition that is attached or dropped would want a lock on `calls`.

-- Whoever waits a second for this lock displaces an autovacuum, which would else be in the way for as long as it takes; it holds up no
-- statement of the service, neither while it waits nor when it is had.
SET LOCAL lock_timeout = '3s';
LOCK TABLE calls, call_turns, call_events IN SHARE UPDATE EXCLUSIVE MODE;
-- Shorter than the time after which PostgreSQL looks for a deadlock: whoever holds one of these tables and wants another goes on.
SET LOCAL lock_timeout = '500ms';
-- In the order in which calls are written.
LOCK TABLE calls IN ACCESS EXCLUSIVE MODE;
ALTER TABLE call_turns DROP CONSTRAINT IF EXISTS call_turns_call_uuid_fkey;
ALTER TABLE call_events DROP CONSTRAINT IF EXISTS call_events_call_uuid_fkey;

-- Down Migration
-- Never: a database only moves forward.
