-- Up Migration
-- People as an OpenID provider knows them, and sign-ins by it that are under way.

CREATE TABLE user_identities (
  id uuid PRIMARY KEY,
  issuer text NOT NULL,
  -- the provider's own name of the person, which it gives to nobody else
  subject text NOT NULL,
  user_id uuid NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  -- as the provider last said; shown, and nothing is decided by it
  email text,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  last_used_at timestamptz,
  UNIQUE (issuer, subject)
);
CREATE INDEX user_identities_user ON user_identities (user_id);

CREATE TABLE openid_sign_ins (
  -- of what goes to the provider and comes back; the browser alone has what it was made of
  state_sha256 bytea PRIMARY KEY,
  -- of somebody who is signed in and adds this identity; null: somebody who signs in
  session_id uuid REFERENCES user_sessions (id) ON DELETE CASCADE,
  expires_at timestamptz NOT NULL
);
CREATE INDEX openid_sign_ins_expires ON openid_sign_ins (expires_at);

-- given by a claim of the provider, which may take it away again; what a person gave stays
ALTER TABLE memberships ADD COLUMN from_provider boolean NOT NULL DEFAULT false;
-- by which provider the session began
ALTER TABLE user_sessions ADD COLUMN issuer text;

-- Down Migration
-- Never: a database only moves forward.
