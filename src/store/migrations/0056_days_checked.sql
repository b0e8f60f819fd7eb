-- Up Migration
-- Reads the tables once, beside running writes, so that nobody has to wait for it later.
ALTER TABLE call_turns VALIDATE CONSTRAINT until_days;
ALTER TABLE call_events VALIDATE CONSTRAINT until_days;

-- Down Migration
-- Never: a database only moves forward.
