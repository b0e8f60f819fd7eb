-- Up Migration
-- Voice on web pages: public widget keys with their origins, keys that sign session tokens, tokens that were used, web calls.

-- A web call has no line.
ALTER TABLE calls ALTER COLUMN line_id DROP NOT NULL;
ALTER TABLE calls ADD CONSTRAINT calls_phone_has_line CHECK (channel <> 'phone' OR line_id IS NOT NULL);

-- changed by the command line; how many there may be is in 0006
ALTER TABLE workspaces
  ADD COLUMN web_session_seconds integer NOT NULL DEFAULT 900 CHECK (web_session_seconds BETWEEN 60 AND 7200),
  ADD COLUMN web_webhooks boolean NOT NULL DEFAULT true;

CREATE TABLE widget_keys (
  -- no secret: it stands in web pages
  public_key text PRIMARY KEY,
  workspace_id uuid NOT NULL REFERENCES workspaces (id),
  name text NOT NULL,
  -- canonical origins, https://example.com:8443 or https://*.example.com; none allows nothing
  allowed_origins text[] NOT NULL DEFAULT '{}',
  enabled boolean NOT NULL DEFAULT true,
  revoked_at timestamptz,
  created_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX widget_keys_workspace ON widget_keys (workspace_id);

-- Ed25519 pairs; the newest signs for 30 days, each is accepted for a day longer.
CREATE TABLE embed_signing_keys (
  kid text PRIMARY KEY,
  -- PKCS #8 in PEM under the master key
  private_sealed bytea NOT NULL,
  -- SPKI in PEM
  public_pem text NOT NULL,
  created_at timestamptz NOT NULL
);

-- A session token opens one socket: whoever inserts the row first.
CREATE TABLE embed_tokens_used (
  jti uuid PRIMARY KEY,
  expires_at timestamptz NOT NULL
);
CREATE INDEX embed_tokens_used_expiry ON embed_tokens_used (expires_at);

CREATE TABLE web_sessions (
  call_uuid uuid PRIMARY KEY REFERENCES calls (call_uuid) ON DELETE CASCADE,
  public_key text NOT NULL REFERENCES widget_keys (public_key),
  origin text NOT NULL,
  -- of the visitor; it holds one of its address's slots, and is forgotten at the end
  address text,
  -- what was negotiated, for a session that goes on in another process
  audio jsonb,
  -- the newest resume token that media has given out
  resume_number integer NOT NULL DEFAULT 0
);
CREATE INDEX web_sessions_holding ON web_sessions (call_uuid) WHERE address IS NOT NULL;

-- Down Migration
-- Never: a database only moves forward.
