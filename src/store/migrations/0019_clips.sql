-- Up Migration
-- Sound that users bring, played where an agent would speak. The sound lies where recordings lie, sealed under a key of its own.

CREATE TABLE clips (
  id uuid PRIMARY KEY,
  workspace_id uuid NOT NULL REFERENCES workspaces (id),
  name text NOT NULL,
  -- what it says, for transcripts; empty: whoever uses it has to say
  text text NOT NULL,
  -- of the file that was sent: wav, ogg_opus, webm_opus, other
  kind text NOT NULL,
  duration_ms integer NOT NULL,
  loudness_lufs real NOT NULL,
  -- 32 bytes under the master key; null once deleted, and then no copy anywhere can be read
  key_sealed bytea,
  -- of the WAV that is sealed
  size_bytes integer NOT NULL,
  sha256 text NOT NULL,
  store text NOT NULL,
  object_key text NOT NULL,
  sealed_bytes integer NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  deleted_at timestamptz,
  -- sealed bytes that are still to be removed
  remove_at timestamptz,
  CHECK ((deleted_at IS NULL) = (key_sealed IS NOT NULL))
);
CREATE UNIQUE INDEX clips_name ON clips (workspace_id, name) WHERE deleted_at IS NULL;
CREATE INDEX clips_remove ON clips (remove_at) WHERE remove_at IS NOT NULL;

-- Down Migration
-- Never: a database only moves forward.
