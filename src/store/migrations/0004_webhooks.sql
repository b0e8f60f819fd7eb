-- Up Migration
-- Webhooks after the first call: what a workspace subscribes to, how healthy its receiver is, and what became of each delivery.

ALTER TABLE webhook_endpoints
  -- opt-in events that are sent beside the five that always are
  ADD COLUMN events text[] NOT NULL DEFAULT '{}',
  ADD COLUMN disabled_reason text CHECK (disabled_reason IN ('gone', 'failing', 'operator')),
  ADD COLUMN last_success_at timestamptz,
  -- the first failure since the last success, and how many there were
  ADD COLUMN failing_since timestamptz,
  ADD COLUMN failures_since_success integer NOT NULL DEFAULT 0;
UPDATE webhook_endpoints SET disabled_reason = 'gone' WHERE disabled_at IS NOT NULL;

ALTER TABLE webhook_deliveries
  -- attempts of rounds that ended before this one: a redelivery begins the schedule anew
  ADD COLUMN earlier_attempts integer NOT NULL DEFAULT 0,
  ADD COLUMN last_attempt_at timestamptz,
  -- when it was given up
  ADD COLUMN dead_at timestamptz,
  -- the newest attempts: [{"at", "attempt", "status", "error", "ms"}]
  ADD COLUMN attempt_log jsonb NOT NULL DEFAULT '[]';
UPDATE webhook_deliveries SET dead_at = now() WHERE state = 'dead';

-- The backlog of one receiver, in the order in which it is worked off; one bad receiver's rows are never read for another.
DROP INDEX webhook_deliveries_due;
CREATE INDEX webhook_deliveries_backlog ON webhook_deliveries (endpoint_id, next_at, id) WHERE state = 'pending';
CREATE INDEX webhook_deliveries_newest ON webhook_deliveries (endpoint_id, id DESC);
CREATE INDEX webhook_deliveries_dead ON webhook_deliveries (endpoint_id, id DESC) WHERE state = 'dead';
CREATE INDEX webhook_events_written ON webhook_events (workspace_id, created_at);
-- Bodies are emptied some time after they were delivered.
CREATE INDEX webhook_events_bodies ON webhook_events (created_at) WHERE body <> '';

-- Down Migration
-- Never: a database only moves forward.
