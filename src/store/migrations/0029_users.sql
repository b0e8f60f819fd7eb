-- Up Migration
-- People who use the console: who they are, what they may in which workspace, their sessions, and links that are used once.

CREATE TABLE users (
  id uuid PRIMARY KEY,
  email text NOT NULL,
  name text NOT NULL,
  -- argon2id with its parameters and salt; null: an invitation was not taken yet
  password_hash text,
  -- the base32 secret of one-time passwords, sealed; asked for at sign-in once `totp_confirmed_at` is set
  totp_sealed bytea,
  totp_confirmed_at timestamptz,
  -- the 30 s step of the last code that was taken: a code is used once
  totp_last_step bigint,
  -- of the whole installation, apart from roles in workspaces
  is_operator boolean NOT NULL DEFAULT false,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  -- the row stays, so that the audit can name who did something; password and one-time passwords are gone
  removed_at timestamptz
);
CREATE UNIQUE INDEX users_email ON users (lower(email)) WHERE removed_at IS NULL;

CREATE TABLE memberships (
  workspace_id uuid NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
  user_id uuid NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  role text NOT NULL CHECK (role IN ('owner', 'admin', 'supervisor', 'analyst')),
  -- an analyst who may listen to recordings; all other roles may
  hears boolean NOT NULL DEFAULT false,
  -- raised by every change, so that what goes on with former rights can be ended
  version integer NOT NULL DEFAULT 1,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (workspace_id, user_id)
);
CREATE INDEX memberships_user ON memberships (user_id);

CREATE TABLE user_sessions (
  id uuid PRIMARY KEY,
  user_id uuid NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  token_sha256 bytea NOT NULL UNIQUE,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  -- at most a minute old while it is used
  seen_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  expires_at timestamptz NOT NULL,
  revoked_at timestamptz,
  address text NOT NULL,
  -- the browser's User-Agent, cut
  agent text NOT NULL
);
CREATE INDEX user_sessions_user ON user_sessions (user_id, created_at);
CREATE INDEX user_sessions_created ON user_sessions (created_at);

CREATE TABLE user_links (
  id uuid PRIMARY KEY,
  token_sha256 bytea NOT NULL UNIQUE,
  purpose text NOT NULL CHECK (purpose IN ('first_user', 'invitation', 'reset')),
  -- null: who takes it says who he is
  user_id uuid REFERENCES users (id) ON DELETE CASCADE,
  -- that an invitation is to
  workspace_id uuid REFERENCES workspaces (id) ON DELETE CASCADE,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  expires_at timestamptz NOT NULL,
  used_at timestamptz,
  CHECK ((purpose = 'first_user') = (user_id IS NULL))
);
CREATE INDEX user_links_user ON user_links (user_id);
CREATE INDEX user_links_expires ON user_links (expires_at);

-- Requests for a call that made none, counted by a quarter of an hour: what `why is nothing dialled` is answered from.
CREATE TABLE call_refusals (
  workspace_id uuid NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
  quarter timestamptz NOT NULL,
  -- of the list of error codes
  code text NOT NULL,
  count integer NOT NULL,
  first_at timestamptz NOT NULL,
  last_at timestamptz NOT NULL,
  PRIMARY KEY (workspace_id, quarter, code)
);

-- Down Migration
-- Never: a database only moves forward.
