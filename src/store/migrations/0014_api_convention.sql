-- Up Migration
-- What is shown and changed over HTTP: imports that were called off, how a webhook receiver fails, what of a call is measured.

ALTER TABLE lead_imports DROP CONSTRAINT lead_imports_state_check;
ALTER TABLE lead_imports ADD CONSTRAINT lead_imports_state_check
  CHECK (state IN ('queued', 'running', 'completed', 'failed', 'canceled')) NOT VALID;
ALTER TABLE lead_imports VALIDATE CONSTRAINT lead_imports_state_check;

ALTER TABLE webhook_endpoints
  -- of the newest failure since the last success: with `failures_since_success`, what the breaker of every node goes by
  ADD COLUMN last_failure_at timestamptz,
  ADD COLUMN last_failure text,
  -- The URL was taken away: its secrets are gone, nothing is sent, and what became of events before stays to be read.
  ADD COLUMN removed_at timestamptz;

-- How often the agent fell silent for what was no interruption, and went on. Null: of calls from before this was counted.
ALTER TABLE calls ADD COLUMN false_barge_ins integer;
ALTER TABLE calls ALTER COLUMN false_barge_ins SET DEFAULT 0;

-- Down Migration
-- Never: a database only moves forward.
