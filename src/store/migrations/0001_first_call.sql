-- Up Migration
-- Ids are UUIDv7 made in Node. Timestamps are timestamptz. Enumerations are text with a check, so that adding one is cheap.

CREATE TABLE workspaces (
  id uuid PRIMARY KEY,
  slug text NOT NULL UNIQUE CHECK (slug ~ '^[a-z0-9][a-z0-9-]{0,62}$'),
  name text NOT NULL,
  api_enabled boolean NOT NULL DEFAULT false,
  -- contract §11; changed by the command line
  max_concurrent_calls integer NOT NULL DEFAULT 10 CHECK (max_concurrent_calls >= 0),
  max_calls_per_second integer NOT NULL DEFAULT 5 CHECK (max_calls_per_second >= 0),
  api_requests_per_second integer NOT NULL DEFAULT 20 CHECK (api_requests_per_second >= 0),
  api_burst integer NOT NULL DEFAULT 40 CHECK (api_burst >= 0),
  created_at timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE api_keys (
  -- the eight public characters of the key
  key_id text PRIMARY KEY,
  workspace_id uuid NOT NULL REFERENCES workspaces (id),
  name text NOT NULL,
  secret_sha256 bytea NOT NULL,
  scopes text[] NOT NULL,
  allowed_cidrs text[] NOT NULL DEFAULT '{}',
  expires_at timestamptz,
  revoked_at timestamptz,
  last_used_at timestamptz,
  created_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX api_keys_workspace ON api_keys (workspace_id);

CREATE TABLE agents (
  id uuid PRIMARY KEY,
  workspace_id uuid NOT NULL REFERENCES workspaces (id),
  name text NOT NULL,
  direction text NOT NULL CHECK (direction IN ('outbound', 'inbound', 'web', 'any')),
  current_version integer NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX agents_workspace ON agents (workspace_id);

CREATE TABLE agent_versions (
  agent_id uuid NOT NULL REFERENCES agents (id),
  version integer NOT NULL,
  definition jsonb NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (agent_id, version)
);

CREATE TABLE phone_lines (
  id uuid PRIMARY KEY,
  workspace_id uuid NOT NULL REFERENCES workspaces (id),
  number text NOT NULL CHECK (number ~ '^\+[1-9][0-9]{6,14}$'),
  carrier text NOT NULL,
  -- AES-256-GCM under the master key; null until credentials are given
  credentials_sealed bytea,
  max_concurrent_calls integer NOT NULL DEFAULT 10 CHECK (max_concurrent_calls >= 0),
  max_calls_per_second integer NOT NULL DEFAULT 1 CHECK (max_calls_per_second >= 0),
  created_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX phone_lines_workspace ON phone_lines (workspace_id);

CREATE TABLE calls (
  call_uuid uuid PRIMARY KEY,
  workspace_id uuid NOT NULL REFERENCES workspaces (id),
  agent_id uuid NOT NULL REFERENCES agents (id),
  agent_version integer NOT NULL,
  line_id uuid NOT NULL REFERENCES phone_lines (id),
  channel text NOT NULL DEFAULT 'phone',
  direction text NOT NULL DEFAULT 'outbound',
  to_number text NOT NULL,
  from_number text NOT NULL,
  name text NOT NULL,
  metadata jsonb NOT NULL DEFAULT '{}',
  idempotency_key text,
  request_id text NOT NULL,

  status text NOT NULL CHECK (status IN ('queued', 'dialing', 'ringing', 'in_progress', 'completed', 'no_answer', 'failed')),
  ended_reason text,
  hangup_by text,
  fault text,
  sip_code integer,
  error jsonb,
  -- the outcome of the carrier request: null while it runs
  submission text CHECK (submission IN ('accepted', 'refused', 'unknown')),
  carrier text NOT NULL,
  carrier_request_id text,
  carrier_call_id text,
  -- SHA-256 of the stream's one-time token; used_at is set by the one claim that wins
  media_token_sha256 bytea,
  media_token_used_at timestamptz,

  -- the lease: media that owns the call renews it; a stale epoch's writes are refused
  owner_media_id text,
  epoch integer NOT NULL DEFAULT 0,
  lease_until timestamptz,
  checkpoint jsonb,
  media_stopped_at timestamptz,
  carrier_ended_at timestamptz,

  created_at timestamptz NOT NULL DEFAULT now(),
  dialed_at timestamptz,
  ringing_at timestamptz,
  answered_at timestamptz,
  ended_at timestamptz,
  -- the next time at which the reaper must look at this call; null once it is terminal
  deadline_at timestamptz,

  answered_by text,
  recording_status text NOT NULL DEFAULT 'none',
  transcript_status text NOT NULL DEFAULT 'none',
  analysis_status text NOT NULL DEFAULT 'none',
  recording jsonb,
  latency jsonb,
  warnings jsonb NOT NULL DEFAULT '[]',
  next_sequence integer NOT NULL DEFAULT 1,

  CHECK ((status IN ('completed', 'no_answer', 'failed')) = (ended_reason IS NOT NULL)),
  CHECK ((status IN ('completed', 'no_answer', 'failed')) = (ended_at IS NOT NULL)),
  CHECK (status <> 'no_answer' OR answered_at IS NULL)
);
CREATE INDEX calls_workspace_recent ON calls (workspace_id, call_uuid DESC);
CREATE INDEX calls_live ON calls (workspace_id, line_id) WHERE status IN ('queued', 'dialing', 'ringing', 'in_progress');
CREATE INDEX calls_deadline ON calls (deadline_at) WHERE deadline_at IS NOT NULL;
CREATE INDEX calls_carrier_request ON calls (carrier, carrier_request_id);
CREATE UNIQUE INDEX calls_media_token ON calls (media_token_sha256) WHERE media_token_sha256 IS NOT NULL;

-- What happened, in order: state changes, late callbacks, live events of the conversation.
CREATE TABLE call_events (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  call_uuid uuid NOT NULL REFERENCES calls (call_uuid),
  at timestamptz NOT NULL DEFAULT now(),
  kind text NOT NULL,
  data jsonb NOT NULL DEFAULT '{}'
);
CREATE INDEX call_events_call ON call_events (call_uuid, id);

CREATE TABLE call_turns (
  call_uuid uuid NOT NULL REFERENCES calls (call_uuid),
  turn_id text NOT NULL,
  position integer NOT NULL,
  turn jsonb NOT NULL,
  PRIMARY KEY (call_uuid, turn_id)
);

CREATE TABLE idempotency_keys (
  workspace_id uuid NOT NULL REFERENCES workspaces (id),
  method_path text NOT NULL,
  key text NOT NULL,
  body_sha256 bytea NOT NULL,
  -- `running` until answered; `unknown` holds the key until the call's submission is settled
  state text NOT NULL CHECK (state IN ('running', 'done', 'unknown')),
  call_uuid uuid,
  response_status integer,
  response_body text,
  response_headers jsonb,
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (workspace_id, method_path, key)
);

-- GCRA: one row a limited thing, its theoretical arrival time on the database's clock.
CREATE TABLE rate_limits (
  name text PRIMARY KEY,
  tat timestamptz NOT NULL
);

CREATE TABLE webhook_endpoints (
  id uuid PRIMARY KEY,
  workspace_id uuid NOT NULL UNIQUE REFERENCES workspaces (id),
  url text NOT NULL,
  -- whsec_ secret, sealed; the previous one stays valid until previous_until
  secret_sealed bytea NOT NULL,
  previous_secret_sealed bytea,
  previous_until timestamptz,
  disabled_at timestamptz,
  created_at timestamptz NOT NULL DEFAULT now()
);

-- The outbox: a row is written in the transaction of the state change that it reports. `body` is the exact text that is signed and sent.
CREATE TABLE webhook_events (
  id text PRIMARY KEY,
  workspace_id uuid NOT NULL REFERENCES workspaces (id),
  call_uuid uuid REFERENCES calls (call_uuid),
  event text NOT NULL,
  sequence integer NOT NULL,
  body text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  UNIQUE (call_uuid, sequence)
);
-- Exactly one terminal event a call, ever.
CREATE UNIQUE INDEX webhook_events_one_terminal ON webhook_events (call_uuid)
  WHERE event IN ('call.completed', 'call.no_answer', 'call.failed');

CREATE TABLE webhook_deliveries (
  id uuid PRIMARY KEY,
  event_id text NOT NULL REFERENCES webhook_events (id),
  endpoint_id uuid NOT NULL REFERENCES webhook_endpoints (id),
  state text NOT NULL CHECK (state IN ('pending', 'delivered', 'dead')),
  attempts integer NOT NULL DEFAULT 0,
  next_at timestamptz NOT NULL DEFAULT now(),
  claimed_until timestamptz,
  last_status integer,
  last_error text,
  delivered_at timestamptz,
  created_at timestamptz NOT NULL DEFAULT now(),
  UNIQUE (event_id, endpoint_id)
);
CREATE INDEX webhook_deliveries_due ON webhook_deliveries (next_at) WHERE state = 'pending';

-- Down Migration
-- Never: a database only moves forward.
