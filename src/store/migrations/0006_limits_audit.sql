-- Up Migration
-- The audit's chains, and leases of limits. `docs/decisions/audit-chain.md` and `docs/decisions/limits.md` say why they are so.

-- One row a change, written in the change's own transaction and without a place in its chain, so that no change waits for
-- another; a moment later the linker gives it position, prev_hash and hash. `before` and `after` are the canonical JSON that is hashed.
CREATE TABLE audit_log (
  id uuid PRIMARY KEY,
  -- the workspace's id, or 'service' for what belongs to none
  chain text NOT NULL,
  workspace_id uuid REFERENCES workspaces (id),
  at timestamptz NOT NULL,
  -- key:<id>, cli:<user>, system:<part>
  actor text NOT NULL,
  action text NOT NULL,
  target text NOT NULL,
  ip text,
  request_id text,
  before text,
  after text,
  position bigint CHECK (position > 0),
  prev_hash bytea,
  hash bytea,
  UNIQUE (chain, position),
  CHECK ((position IS NULL) = (hash IS NULL) AND (position IS NULL) = (prev_hash IS NULL))
);
CREATE INDEX audit_log_unlinked ON audit_log (chain, id) WHERE position IS NULL;

-- Where each chain ends, so that a missing end shows too.
CREATE TABLE audit_chains (
  chain text PRIMARY KEY,
  position bigint NOT NULL,
  hash bytea NOT NULL
);

-- Signed with a key that the database does not hold: a chain that was written anew has no such seals.
CREATE TABLE audit_seals (
  chain text NOT NULL,
  position bigint NOT NULL,
  hash bytea NOT NULL,
  mac bytea NOT NULL,
  PRIMARY KEY (chain, position)
);

CREATE FUNCTION audit_log_is_append_only() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'UPDATE' AND OLD.position IS NULL AND NEW.position IS NOT NULL
     AND (NEW.id, NEW.chain, NEW.at, NEW.actor, NEW.action, NEW.target) = (OLD.id, OLD.chain, OLD.at, OLD.actor, OLD.action, OLD.target)
     AND (NEW.ip, NEW.request_id, NEW.before, NEW.after) IS NOT DISTINCT FROM (OLD.ip, OLD.request_id, OLD.before, OLD.after) THEN
    RETURN NEW;
  END IF;
  RAISE EXCEPTION 'the audit log only grows: % refused', TG_OP USING ERRCODE = 'insufficient_privilege';
END $$;
CREATE TRIGGER audit_log_append_only BEFORE UPDATE OR DELETE ON audit_log FOR EACH ROW EXECUTE FUNCTION audit_log_is_append_only();
CREATE TRIGGER audit_log_not_truncated BEFORE TRUNCATE ON audit_log FOR EACH STATEMENT EXECUTE FUNCTION audit_log_is_append_only();

-- contract §11: web sessions share the workspace's calls; `reserved_phone_calls` of them are kept for phones.
ALTER TABLE workspaces
  ADD COLUMN max_web_sessions integer NOT NULL DEFAULT 10 CHECK (max_web_sessions >= 0),
  ADD COLUMN reserved_phone_calls integer NOT NULL DEFAULT 0 CHECK (reserved_phone_calls >= 0);

-- Slots that are taken and have no row in `calls`: a promise of one, or something that never has one (an embed session).
-- Unlogged, like the rates: neither is worth a wait for the disk, and a crash of PostgreSQL ends what they stand for.
CREATE UNLOGGED TABLE limit_leases (
  holder text NOT NULL,
  name text NOT NULL,
  until timestamptz NOT NULL,
  PRIMARY KEY (holder, name)
);
CREATE INDEX limit_leases_name ON limit_leases (name, until);
ALTER TABLE rate_limits SET UNLOGGED;
ALTER TABLE rate_limits SET (fillfactor = 50);
CREATE INDEX rate_limits_tat ON rate_limits (tat);

-- How many hold a slot of this name: leases, and the live calls that the name stands for.
--   calls:<workspace>            live calls of the workspace, phone and web
--   calls:<workspace>:<line>     of one line
--   web:<workspace>              web sessions of the workspace
CREATE FUNCTION limits_in_use(slot text, except_holder text, at timestamptz) RETURNS integer LANGUAGE sql VOLATILE AS $$
  SELECT ((SELECT count(*) FROM limit_leases WHERE name = slot AND until > at AND holder <> except_holder)
    + CASE split_part(slot, ':', 1)
        WHEN 'calls' THEN (
          SELECT count(*) FROM calls
          WHERE workspace_id = split_part(slot, ':', 2)::uuid
            AND (split_part(slot, ':', 3) = '' OR line_id = nullif(split_part(slot, ':', 3), '')::uuid)
            AND status IN ('queued', 'dialing', 'ringing', 'in_progress'))
        WHEN 'web' THEN (
          SELECT count(*) FROM calls
          WHERE workspace_id = split_part(slot, ':', 2)::uuid AND channel = 'web'
            AND status IN ('queued', 'dialing', 'ringing', 'in_progress'))
        ELSE 0
      END)::integer
$$;

-- Takes one from each rate and one slot of each name for `holder_name`, or nothing at all. Times in µs from now.
-- The locks are taken in one order everywhere, and the counts are read after them, so that they are exact.
CREATE FUNCTION limits_admit(
  rate_names text[], periods_us bigint[], tolerances_us bigint[],
  slot_names text[], slot_limits integer[], holder_name text, ttl_us bigint
) RETURNS TABLE (refused text, refused_index integer, tats_us bigint[], in_use integer[]) LANGUAGE plpgsql AS $$
DECLARE
  lock_key bigint;
  now_at timestamptz;
BEGIN
  refused := NULL;
  refused_index := NULL;
  tats_us := '{}';
  in_use := '{}';
  FOR lock_key IN
    SELECT DISTINCT hashtextextended('limits:' || name, 0) FROM unnest(rate_names || slot_names) AS name ORDER BY 1
  LOOP
    PERFORM pg_advisory_xact_lock(lock_key);
  END LOOP;
  now_at := clock_timestamp();
  FOR i IN 1 .. cardinality(rate_names) LOOP
    tats_us[i] := coalesce((SELECT greatest(0, (extract(epoch FROM r.tat - now_at) * 1000000)::bigint)
                            FROM rate_limits r WHERE r.name = rate_names[i]), 0);
    IF refused IS NULL AND tats_us[i] > tolerances_us[i] THEN
      refused := 'rate';
      refused_index := i;
    END IF;
  END LOOP;
  IF cardinality(slot_names) > 0 THEN
    DELETE FROM limit_leases WHERE name = ANY (slot_names) AND until <= now_at;
  END IF;
  FOR i IN 1 .. cardinality(slot_names) LOOP
    in_use[i] := limits_in_use(slot_names[i], holder_name, now_at);
    IF refused IS NULL AND in_use[i] >= slot_limits[i] THEN
      refused := 'slot';
      refused_index := i;
    END IF;
  END LOOP;
  IF refused IS NULL THEN
    INSERT INTO rate_limits AS r (name, tat)
      SELECT t.name, now_at + (t.tat_us + t.period_us) * interval '1 microsecond'
      FROM unnest(rate_names, tats_us, periods_us) AS t (name, tat_us, period_us)
      ON CONFLICT (name) DO UPDATE SET tat = excluded.tat;
    INSERT INTO limit_leases (holder, name, until)
      SELECT holder_name, name, now_at + ttl_us * interval '1 microsecond' FROM unnest(slot_names) AS name
      ON CONFLICT ON CONSTRAINT limit_leases_pkey DO UPDATE SET until = excluded.until;
  END IF;
  RETURN NEXT;
END $$;

-- Down Migration
-- Never: a database only moves forward.
