-- Up Migration
-- What tools put into headers: AES-256-GCM under the master key, like carrier credentials. Never shown again.
CREATE TABLE workspace_secrets (
  workspace_id uuid NOT NULL REFERENCES workspaces (id),
  name text NOT NULL CHECK (name ~ '^[A-Za-z_][A-Za-z0-9_-]{0,55}$'),
  value_sealed bytea NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (workspace_id, name)
);

-- Each use of a tool in a call, neither what was asked nor what was answered. Written before the request leaves, so that no second one
-- does; `outcome` is what the agent got, null while it has nothing.
CREATE TABLE tool_calls (
  call_uuid uuid NOT NULL REFERENCES calls (call_uuid) ON DELETE CASCADE,
  tool_call_id text NOT NULL,
  workspace_id uuid NOT NULL,
  agent_id uuid NOT NULL,
  name text NOT NULL,
  started_at timestamptz NOT NULL,
  outcome text CHECK (outcome IN ('ok', 'failed', 'cancelled')),
  code text,
  -- of HTTP, where there was an answer
  status integer,
  ms integer,
  PRIMARY KEY (call_uuid, tool_call_id)
);
CREATE INDEX tool_calls_agent ON tool_calls (workspace_id, agent_id, name, started_at DESC);

-- Down Migration
-- Never: a database only moves forward.
