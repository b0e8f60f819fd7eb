-- Up Migration
-- Passkeys of people (WebAuthn), and the challenges that are asked of them.

CREATE TABLE user_passkeys (
  id uuid PRIMARY KEY,
  user_id uuid NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  -- the authenticator's, base64url
  credential_id text NOT NULL UNIQUE,
  -- COSE, base64url
  public_key text NOT NULL,
  -- uses that the authenticator has counted; 0: it counts none. One that goes back is a copy
  sign_count bigint NOT NULL,
  -- the host for which it was made; it works at no other
  rp_id text NOT NULL,
  -- by which ways a browser reaches it, as it said itself
  transports text[] NOT NULL,
  -- kept by a service of its maker, on more than one device
  is_synced boolean NOT NULL,
  -- what the person calls it
  name text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  last_used_at timestamptz
);
CREATE INDEX user_passkeys_user ON user_passkeys (user_id);

CREATE TABLE passkey_challenges (
  challenge_sha256 bytea PRIMARY KEY,
  purpose text NOT NULL CHECK (purpose IN ('sign_in', 'second_factor', 'new_passkey')),
  -- null: whose passkey answers is not known before
  user_id uuid REFERENCES users (id) ON DELETE CASCADE,
  expires_at timestamptz NOT NULL,
  CHECK ((purpose = 'sign_in') = (user_id IS NULL))
);
CREATE INDEX passkey_challenges_expires ON passkey_challenges (expires_at);

-- Down Migration
-- Never: a database only moves forward.
