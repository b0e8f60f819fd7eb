-- Up Migration
-- What a call costs the database. `docs/decisions/limits.md` has the slots, `docs/decisions/write-path.md` the rest.

-- How many live calls each name of a slot stands for (`calls:<workspace>`, `calls:<workspace>:<line>`, `web:<workspace>`), counted
-- when a call begins and when it ends, so that an admission reads a few rows however many calls there are. A name has several
-- rows, so that calls that begin and end at once seldom wait for each other.
CREATE TABLE call_slots (
  name text NOT NULL,
  shard integer NOT NULL,
  -- may be negative in one row; the sum of a name never is
  live integer NOT NULL,
  PRIMARY KEY (name, shard)
) WITH (fillfactor = 50);

CREATE FUNCTION call_slots_count(call calls, by integer) RETURNS void LANGUAGE sql AS $$
  INSERT INTO call_slots AS s (name, shard, live)
  SELECT held.name, abs(hashtext(call.call_uuid::text) % 16), by
    FROM (VALUES ('calls:' || call.workspace_id),
                 ('calls:' || call.workspace_id || ':' || call.line_id),
                 (CASE WHEN call.channel = 'web' THEN 'web:' || call.workspace_id END)) AS held (name)
   WHERE held.name IS NOT NULL ORDER BY held.name
  ON CONFLICT (name, shard) DO UPDATE SET live = s.live + EXCLUDED.live
$$;

CREATE FUNCTION call_slots_keep() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'INSERT' THEN
    PERFORM call_slots_count(NEW, 1);
  ELSIF TG_OP = 'DELETE' THEN
    PERFORM call_slots_count(OLD, -1);
  ELSE
    PERFORM call_slots_count(NEW, CASE WHEN NEW.ended_at IS NULL THEN 1 ELSE -1 END);
  END IF;
  RETURN NULL;
END
$$;

-- Nobody may begin or end a call between the count and the triggers.
LOCK TABLE calls IN SHARE ROW EXCLUSIVE MODE;
SELECT call_slots_count(c, 1) FROM calls c WHERE c.ended_at IS NULL;

-- At the commit: the rows are held for as long as that takes, and nothing is waited for with them in hand.
CREATE CONSTRAINT TRIGGER call_slots_begin AFTER INSERT ON calls DEFERRABLE INITIALLY DEFERRED
  FOR EACH ROW WHEN (NEW.ended_at IS NULL) EXECUTE FUNCTION call_slots_keep();
CREATE CONSTRAINT TRIGGER call_slots_end AFTER UPDATE ON calls DEFERRABLE INITIALLY DEFERRED
  FOR EACH ROW WHEN ((OLD.ended_at IS NULL) <> (NEW.ended_at IS NULL)) EXECUTE FUNCTION call_slots_keep();
CREATE CONSTRAINT TRIGGER call_slots_gone AFTER DELETE ON calls DEFERRABLE INITIALLY DEFERRED
  FOR EACH ROW WHEN (OLD.ended_at IS NULL) EXECUTE FUNCTION call_slots_keep();

CREATE OR REPLACE FUNCTION limits_in_use(slot text, except_holder text, at timestamptz) RETURNS integer LANGUAGE sql VOLATILE AS $$
  SELECT ((SELECT count(*) FROM limit_leases WHERE name = slot AND until > at AND holder <> except_holder)
    + (SELECT coalesce(sum(live), 0) FROM call_slots WHERE name = slot))::integer
$$;

-- No statement looks calls up by the carrier's request; and live calls of a workspace are found by `calls_live_to` too.
DROP INDEX calls_carrier_request;
DROP INDEX calls_live;
-- Room in the page for the next version of a row, so that what changes no index touches none.
ALTER TABLE calls SET (fillfactor = 70);

-- As before, but of a call's latency only what is searched, and only when it is over: its first word and its last reply are
-- written while it runs.
DROP TRIGGER call_search_update ON calls;
CREATE TRIGGER call_search_update AFTER UPDATE ON calls FOR EACH ROW
  WHEN ((OLD.status, OLD.ended_reason, OLD.fault, OLD.answered_by, OLD.name, OLD.to_number, OLD.from_number, OLD.metadata,
         CASE WHEN OLD.ended_at IS NOT NULL THEN OLD.latency #>> '{mouthToEarMs,p95}' END,
         OLD.warnings, OLD.transcript_status, OLD.analysis_status, OLD.answered_at, OLD.ended_at, OLD.created_at, OLD.epoch > 1)
    IS DISTINCT FROM
        (NEW.status, NEW.ended_reason, NEW.fault, NEW.answered_by, NEW.name, NEW.to_number, NEW.from_number, NEW.metadata,
         CASE WHEN NEW.ended_at IS NOT NULL THEN NEW.latency #>> '{mouthToEarMs,p95}' END,
         NEW.warnings, NEW.transcript_status, NEW.analysis_status, NEW.answered_at, NEW.ended_at, NEW.created_at, NEW.epoch > 1))
  EXECUTE FUNCTION call_search_keep();

-- Down Migration
-- Never: a database only moves forward.
