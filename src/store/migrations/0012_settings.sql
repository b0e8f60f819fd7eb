-- Up Migration
-- Settings that a workspace changes by itself, within what the operator allows, and what a live call keeps while they change.

-- The most that a workspace may set its own limits to; the operator's change of a limit changes its cap too.
ALTER TABLE workspaces ADD COLUMN limit_caps jsonb NOT NULL DEFAULT
  '{"concurrentCalls": 10, "callsPerSecond": 5, "apiRequestsPerSecond": 20, "apiBurst": 40, "webSessions": 10}';
UPDATE workspaces SET limit_caps = jsonb_build_object(
  'concurrentCalls', max_concurrent_calls, 'callsPerSecond', max_calls_per_second,
  'apiRequestsPerSecond', api_requests_per_second, 'apiBurst', api_burst, 'webSessions', max_web_sessions);

-- Made by the command line alone; they create workspaces and switch their API access, and open nothing of a workspace's.
CREATE TABLE operator_keys (
  key_id text PRIMARY KEY,
  name text NOT NULL,
  secret_sha256 bytea NOT NULL,
  revoked_at timestamptz,
  last_used_at timestamptz,
  created_at timestamptz NOT NULL DEFAULT now()
);

-- `current_version` may go back to an old one; a new one always gets a number that none had. A deleted agent's calls go on.
ALTER TABLE agents
  ADD COLUMN latest_version integer NOT NULL DEFAULT 1,
  ADD COLUMN deleted_at timestamptz;
UPDATE agents SET latest_version = (SELECT max(version) FROM agent_versions v WHERE v.agent_id = agents.id)
  WHERE EXISTS (SELECT 1 FROM agent_versions v WHERE v.agent_id = agents.id);

ALTER TABLE phone_lines
  ADD COLUMN deleted_at timestamptz,
  -- raised by every change of the credentials
  ADD COLUMN credentials_version integer NOT NULL DEFAULT 1;

-- A live call is hung up, and its carrier's callbacks are checked, with the credentials that it was placed with. Gone a day later.
CREATE TABLE past_line_credentials (
  line_id uuid NOT NULL REFERENCES phone_lines (id),
  version integer NOT NULL,
  sealed bytea NOT NULL,
  replaced_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (line_id, version)
);
-- Null: placed before this was kept; the line's current ones.
ALTER TABLE calls ADD COLUMN line_credentials_version integer;

-- Down Migration
-- Never: a database only moves forward.
