-- Up Migration
-- Recordings under keys of their own, where each lies and how far it has come; how long what is kept, and what was removed.

-- One row a stream that was recorded. The key is made before the first byte of sound.
CREATE TABLE call_recordings (
  call_uuid uuid NOT NULL REFERENCES calls (call_uuid) ON DELETE CASCADE,
  epoch integer NOT NULL,
  workspace_id uuid NOT NULL REFERENCES workspaces (id),
  -- 32 bytes under the master key; null once erased, and then no copy anywhere can be read
  key_sealed bytea,
  -- recording ─► spooled (finished, on the disk of spool_node) ─► stored (in the store, read back and verified)
  state text NOT NULL DEFAULT 'recording' CHECK (state IN ('recording', 'spooled', 'stored', 'failed', 'erased')),
  -- of the sound file: {format, channels, rateHz, durationMs, sizeBytes, sha256}
  facts jsonb,
  spool_node text,
  spool_path text,
  store text,
  object_key text,
  sealed_bytes bigint,
  attempts integer NOT NULL DEFAULT 0,
  next_at timestamptz,
  last_error text,
  created_at timestamptz NOT NULL DEFAULT now(),
  stored_at timestamptz,
  erased_at timestamptz,
  PRIMARY KEY (call_uuid, epoch),
  CHECK ((state = 'erased') = (key_sealed IS NULL)),
  CHECK (state <> 'stored' OR (store IS NOT NULL AND object_key IS NOT NULL))
);
CREATE INDEX call_recordings_due ON call_recordings (spool_node, next_at) WHERE state = 'spooled';
CREATE INDEX call_recordings_recent ON call_recordings (workspace_id, call_uuid DESC);

-- Days that each kind is kept; `agent_id` null is the workspace's own. No row: 365.
CREATE TABLE retention_rules (
  workspace_id uuid NOT NULL REFERENCES workspaces (id),
  agent_id uuid REFERENCES agents (id),
  kind text NOT NULL CHECK (kind IN ('recording', 'transcript', 'analysis', 'events', 'metadata')),
  days integer NOT NULL CHECK (days BETWEEN 0 AND 3650)
);
CREATE UNIQUE INDEX retention_rules_one ON retention_rules (workspace_id, coalesce(agent_id, '00000000-0000-0000-0000-000000000000'), kind);

-- Nothing of a call is removed while it is held, or its workspace.
CREATE TABLE legal_holds (
  id uuid PRIMARY KEY,
  workspace_id uuid NOT NULL REFERENCES workspaces (id),
  -- null: every call of the workspace
  call_uuid uuid REFERENCES calls (call_uuid),
  reason text NOT NULL,
  placed_by text NOT NULL,
  placed_at timestamptz NOT NULL,
  released_by text,
  released_at timestamptz
);
CREATE INDEX legal_holds_live ON legal_holds (workspace_id, call_uuid) WHERE released_at IS NULL;

-- What was removed, when and why; it holds nothing of what it tells of.
CREATE TABLE purge_receipts (
  id uuid PRIMARY KEY,
  workspace_id uuid NOT NULL REFERENCES workspaces (id),
  call_uuid uuid NOT NULL,
  kinds text[] NOT NULL,
  -- retention: the days had passed; erase: somebody asked
  cause text NOT NULL CHECK (cause IN ('retention', 'erase')),
  -- as in the audit log
  actor text NOT NULL,
  -- rows, files and objects by what they were, and the SHA-256 of each recording
  removed jsonb NOT NULL,
  at timestamptz NOT NULL
);
CREATE INDEX purge_receipts_recent ON purge_receipts (workspace_id, id DESC);
CREATE INDEX purge_receipts_call ON purge_receipts (call_uuid);

-- Which kinds are gone, so that the hourly look finds only what is still to go.
ALTER TABLE calls ADD COLUMN purged_kinds text[] NOT NULL DEFAULT '{}';
CREATE INDEX calls_to_purge ON calls (ended_at) WHERE ended_at IS NOT NULL AND cardinality(purged_kinds) < 5;
CREATE INDEX idempotency_keys_call ON idempotency_keys (call_uuid) WHERE call_uuid IS NOT NULL;

-- Down Migration
-- Never: a database only moves forward.
