-- Up Migration
-- Connections of a workspace to providers of speech and language, what calls used of them, and what that costs.

-- Each row is a version, and none ever changes: the newest that is not removed is used by new calls, a call keeps the one that it began
-- with. Numbers are never used again, also when a connection was removed and another is called the same.
CREATE TABLE provider_connections (
  workspace_id uuid NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
  name text NOT NULL CHECK (name ~ '^[a-z0-9][a-z0-9_-]{0,62}$'),
  version integer NOT NULL CHECK (version > 0),
  provider text NOT NULL,
  base_url text NOT NULL,
  -- JSON of the credentials by name; null: there are none, or they are erased (a version that nobody needs any more)
  credentials_sealed bytea,
  -- the bare key of a former model endpoint, sealed for where it was; a later version has its own in `credentials_sealed`
  model_key_sealed bytea,
  limits jsonb NOT NULL DEFAULT '{}',
  settings jsonb NOT NULL DEFAULT '{}',
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  -- by a newer version, or by the removal
  replaced_at timestamptz,
  PRIMARY KEY (workspace_id, name, version)
);
CREATE UNIQUE INDEX provider_connections_newest ON provider_connections (workspace_id, name) WHERE replaced_at IS NULL;
CREATE INDEX provider_connections_erasable ON provider_connections (replaced_at)
  WHERE replaced_at IS NOT NULL AND (credentials_sealed IS NOT NULL OR model_key_sealed IS NOT NULL);

CREATE FUNCTION provider_connections_keep() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF (NEW.workspace_id, NEW.name, NEW.version, NEW.provider, NEW.base_url, NEW.limits, NEW.settings, NEW.created_at)
     IS DISTINCT FROM
     (OLD.workspace_id, OLD.name, OLD.version, OLD.provider, OLD.base_url, OLD.limits, OLD.settings, OLD.created_at) THEN
    RAISE EXCEPTION 'A version of a connection does not change; a change is a new version.';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER provider_connections_keep BEFORE UPDATE ON provider_connections FOR EACH ROW
  EXECUTE FUNCTION provider_connections_keep();

-- The versions that a call began with.
CREATE TABLE call_connections (
  call_uuid uuid NOT NULL REFERENCES calls (call_uuid) ON DELETE CASCADE,
  workspace_id uuid NOT NULL,
  name text NOT NULL,
  version integer NOT NULL,
  PRIMARY KEY (call_uuid, name),
  FOREIGN KEY (workspace_id, name, version) REFERENCES provider_connections (workspace_id, name, version) ON DELETE CASCADE
);
CREATE INDEX call_connections_version ON call_connections (workspace_id, name, version);

-- Which connection reads a workspace's calls, and with which model; without a row a local heuristic does.
CREATE TABLE analysis_models (
  workspace_id uuid PRIMARY KEY REFERENCES workspaces (id) ON DELETE CASCADE,
  connection text NOT NULL,
  model text NOT NULL,
  updated_at timestamptz NOT NULL DEFAULT clock_timestamp()
);

INSERT INTO provider_connections (workspace_id, name, version, provider, base_url, model_key_sealed, created_at)
SELECT workspace_id, 'analysis', 1, 'openai_compatible', base_url, key_sealed, updated_at FROM model_endpoints;
INSERT INTO analysis_models (workspace_id, connection, model, updated_at)
SELECT workspace_id, 'analysis', model, updated_at FROM model_endpoints;
-- A second place with the same keys would be one that nobody looks after.
DROP TABLE model_endpoints;

-- What calls used, line by line; a line never changes.
CREATE TABLE call_usage (
  call_uuid uuid NOT NULL REFERENCES calls (call_uuid) ON DELETE CASCADE,
  -- made by who counts, so that what is told twice counts once
  usage_id text NOT NULL,
  workspace_id uuid NOT NULL,
  turn_id text,
  connection text NOT NULL,
  version integer NOT NULL,
  provider text NOT NULL,
  model text NOT NULL,
  unit text NOT NULL,
  quantity numeric(18, 3) NOT NULL CHECK (quantity >= 0),
  speculative boolean NOT NULL,
  used_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (call_uuid, usage_id)
);

-- What a unit costs the operator, of the whole service. A price never changes: a newer version holds from its time on.
CREATE TABLE provider_prices (
  provider text NOT NULL,
  -- `*`: every model of the provider that has no price of its own
  model text NOT NULL,
  unit text NOT NULL,
  version integer NOT NULL,
  -- millionths of the currency; null: no price from then on
  price_micros numeric(18, 6) CHECK (price_micros >= 0),
  currency text NOT NULL CHECK (currency ~ '^[A-Z]{3}$'),
  effective_at timestamptz NOT NULL,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (provider, model, unit, version)
);

-- Down Migration
-- Never: a database only moves forward.
