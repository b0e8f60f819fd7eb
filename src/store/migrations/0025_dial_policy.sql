-- Up Migration
-- What the operator lets a workspace dial, and how much of it a day. `docs/dialling.md` says what it means.

-- No row: the countries of its lines, no costly kinds, no ceilings. Ceilings and the longest call are null for none; 0 lets nothing through.
CREATE TABLE dial_policies (
  workspace_id uuid PRIMARY KEY REFERENCES workspaces (id),
  -- ISO 3166, beside those of its lines; null: any
  countries text[] DEFAULT '{}',
  blocked_countries text[] NOT NULL DEFAULT '{}',
  kinds text[] NOT NULL DEFAULT '{}',
  max_call_seconds integer CHECK (max_call_seconds BETWEEN 30 AND 14400),
  calls_per_day integer CHECK (calls_per_day >= 0),
  minutes_per_day integer CHECK (minutes_per_day >= 0),
  -- of each key, with the keys that it has made
  key_calls_per_day integer CHECK (key_calls_per_day >= 0),
  key_minutes_per_day integer CHECK (key_minutes_per_day >= 0)
);

-- One row a day (UTC) for the workspace, under '', and one for each of its keys, while it has ceilings.
CREATE TABLE dial_usage (
  workspace_id uuid NOT NULL REFERENCES workspaces (id),
  counted_for text NOT NULL,
  day timestamptz NOT NULL,
  calls integer NOT NULL,
  -- talk of calls that are over
  used_seconds bigint NOT NULL,
  -- the longest that live calls may still become
  reserved_seconds bigint NOT NULL,
  -- ceilings that have refused a call, and that was told
  told text[] NOT NULL DEFAULT '{}',
  PRIMARY KEY (workspace_id, counted_for, day)
);
CREATE INDEX dial_usage_day ON dial_usage (day);

-- The key whose share a call is of, and what it holds of which day until it is over.
ALTER TABLE calls
  ADD COLUMN dial_key text,
  ADD COLUMN dial_day timestamptz,
  ADD COLUMN dial_reserved_seconds integer;

-- The key in whose share a key's calls are counted: that which made it, or whose place it took. Null: itself.
ALTER TABLE api_keys ADD COLUMN counted_as text;

-- False: a key of the workspace added it, so its country may be called from this line alone.
ALTER TABLE phone_lines ADD COLUMN opens_country boolean NOT NULL DEFAULT true;

-- Down Migration
-- Never: a database only moves forward.
