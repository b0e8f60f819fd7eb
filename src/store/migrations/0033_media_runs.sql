-- Runs of media processes, and the one lease that each has for all its calls. Times are the database's own.
CREATE TABLE media_runs (
  -- the process makes it up, and a new one when it was fenced
  run_id text PRIMARY KEY,
  node text NOT NULL,
  -- the data folder of that node
  disk text NOT NULL,
  -- of the node's processes, like media-0
  slot text NOT NULL,
  -- where other nodes ask whether the machine lives; null: nowhere
  address text,
  began_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  beat_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  -- silent for longer than this, it may be judged
  lease_ms integer NOT NULL,
  capacity_calls integer NOT NULL,
  live_calls integer NOT NULL DEFAULT 0,
  is_draining boolean NOT NULL DEFAULT false,
  -- it owns nothing from then on and never again
  dead_at timestamptz,
  dead_why text
);
CREATE INDEX media_runs_alive ON media_runs (node, slot) WHERE dead_at IS NULL;

-- Null: nobody has claimed the call, or an earlier version has, which renews `lease_until` of each call.
ALTER TABLE calls ADD COLUMN owner_run text;
COMMENT ON COLUMN calls.lease_until IS 'Null: the run of owner_run has the call. Else: it has no owner from then on.';

-- Down Migration
-- Never: a database only moves forward.
