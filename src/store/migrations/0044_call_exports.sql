-- Up Migration
-- Exports of the call log: asked for once, written in the background in pieces, fetched for a day, then gone.

CREATE TABLE call_exports (
  id uuid PRIMARY KEY,
  workspace_id uuid NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
  -- who asked, as the audit names it; nobody else sees it
  made_by text NOT NULL,
  format text NOT NULL CHECK (format IN ('csv', 'ndjson')),
  -- of the call log, as they were understood
  filters jsonb NOT NULL,
  -- null: whoever asked sees numbers; else what the maker may see beside them
  masking jsonb,
  state text NOT NULL DEFAULT 'queued' CHECK (state IN ('queued', 'running', 'completed', 'failed')),
  error text,
  -- counted when it begins; null before that
  total_rows integer,
  written_rows integer NOT NULL DEFAULT 0,
  -- of the file, unpacked
  size_bytes bigint NOT NULL DEFAULT 0,
  -- it ended at its bounds, and there was more
  is_cut boolean NOT NULL DEFAULT false,
  -- of the last call that is written: {createdAtMicros, callUuid}
  after_place jsonb,
  lease_until timestamptz,
  lease_epoch integer NOT NULL DEFAULT 0,
  -- when it last had its turn: exports share the writer
  served_at timestamptz,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  started_at timestamptz,
  finished_at timestamptz,
  -- set when it ends: from then on it is gone
  expires_at timestamptz
);
CREATE INDEX call_exports_open ON call_exports (served_at NULLS FIRST, id) WHERE state IN ('queued', 'running');
CREATE INDEX call_exports_workspace ON call_exports (workspace_id, id DESC);
CREATE INDEX call_exports_expires ON call_exports (expires_at) WHERE expires_at IS NOT NULL;

CREATE TABLE call_export_parts (
  export_id uuid NOT NULL REFERENCES call_exports (id) ON DELETE CASCADE,
  -- from 0, in the order of the file
  position integer NOT NULL,
  -- gzip
  content bytea NOT NULL,
  PRIMARY KEY (export_id, position)
);

-- Down Migration
-- Never: a database only moves forward.
