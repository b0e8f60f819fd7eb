-- Up Migration
-- The call log's own index of calls: one narrow row a call, kept by a trigger on `calls`, so that no writer of a call knows of it.
-- `document` holds the words to search (transcript as heard, name, numbers, summary) and, as lexemes that begin with the character 1,
-- every value that the list filters by equality. One GIN index then serves every such filter and every combination of them with words.
-- docs/decisions/call-log-indexes.md has the measurements.

CREATE TABLE call_search (
  call_uuid uuid PRIMARY KEY REFERENCES calls (call_uuid) ON DELETE CASCADE,
  workspace_id uuid NOT NULL,
  created_at timestamptz NOT NULL,
  -- from the answer to the end, to a tenth of a second, as the log shows it
  talk_ms integer,
  mouth_to_ear_p95_ms integer,
  document tsvector NOT NULL
);
ALTER TABLE call_search ALTER COLUMN document SET STORAGE EXTERNAL;

-- `chr(1)name=value`: no word of a text begins so. Long values by their digest, for a lexeme has an end. `src/calls/call-log-query.ts` makes the same.
CREATE FUNCTION call_facet(name text, value text) RETURNS text LANGUAGE sql STABLE AS $$
  SELECT chr(1) || name || '=' || CASE
    WHEN octet_length(value) <= 100 THEN value
    ELSE encode(sha256(convert_to(value, 'UTF8')), 'hex')
  END
$$;

-- Columns that the table gets later (lead, campaign, analysis) are found by their names once they are there.
CREATE FUNCTION call_search_of(call calls) RETURNS call_search LANGUAGE plpgsql STABLE AS $$
DECLARE
  fields jsonb := to_jsonb(call);
  findings jsonb := CASE WHEN jsonb_typeof(to_jsonb(call) -> 'analysis') = 'object' THEN to_jsonb(call) -> 'analysis' ELSE '{}' END;
  facets text[];
  words text := '';
  made call_search;
BEGIN
  SELECT array_agg(DISTINCT call_facet(facet.name, facet.value)) INTO facets FROM (
    SELECT shown.name, coalesce(nullif(fields ->> shown.field, ''), findings ->> shown.field) AS value
      FROM (VALUES
        ('w', 'workspace_id'), ('status', 'status'), ('endedReason', 'ended_reason'), ('fault', 'fault'),
        ('agentId', 'agent_id'), ('leadId', 'lead_id'), ('campaignId', 'campaign_id'), ('channel', 'channel'),
        ('direction', 'direction'), ('to', 'to_number'), ('from', 'from_number'), ('from', 'line_id'),
        ('answeredBy', 'answered_by'), ('intent', 'intent'), ('successful', 'successful'), ('sentiment', 'sentiment'),
        ('idempotencyKey', 'idempotency_key')
      ) AS shown (name, field)
    UNION ALL
    -- `secret.*` is for tools: nobody may find out its values by asking.
    SELECT 'metadata.' || given.key, given.value FROM jsonb_each_text(CASE WHEN jsonb_typeof(call.metadata) = 'object' THEN call.metadata ELSE '{}' END) AS given
     WHERE given.key NOT LIKE 'secret.%' AND given.value IS NOT NULL
    UNION ALL
    SELECT 'hasRecovery', 'true' WHERE call.epoch > 1 OR EXISTS (
      SELECT 1 FROM call_events e WHERE e.call_uuid = call.call_uuid AND e.kind = 'recovery' AND call.ended_at IS NOT NULL)
    UNION ALL
    SELECT 'toolErrored', 'true' WHERE call.warnings ? 'tool_error' OR call.warnings ? 'tool.failed'
  ) AS facet WHERE facet.value IS NOT NULL;

  -- A number is found whole, with its plus or without, and by its last 10, 7 or 4 digits.
  SELECT coalesce(string_agg(concat_ws(' ', number.shown, number.digits, right(number.digits, 10), right(number.digits, 7), right(number.digits, 4)), ' '), '')
    INTO words
    FROM (SELECT shown, regexp_replace(shown, '\D', '', 'g') AS digits FROM unnest(ARRAY[call.to_number, call.from_number]) AS shown) AS number
   WHERE number.digits <> '';
  words := concat_ws(' ', call.name, words, coalesce(fields ->> 'summary', findings ->> 'summary'));
  IF call.transcript_status = 'ready' THEN
    words := concat_ws(' . ', words, (
      SELECT string_agg(t.turn ->> 'heardText', ' . ' ORDER BY t.position) FROM call_turns t WHERE t.call_uuid = call.call_uuid));
  END IF;

  made.call_uuid := call.call_uuid;
  made.workspace_id := call.workspace_id;
  made.created_at := call.created_at;
  made.talk_ms := CASE WHEN call.ended_at IS NOT NULL AND call.answered_at IS NOT NULL THEN
    greatest(0, least(round(extract(epoch FROM call.ended_at - call.answered_at)::numeric, 1) * 1000, 2000000000)) END;
  made.mouth_to_ear_p95_ms := CASE WHEN jsonb_typeof(call.latency -> 'mouthToEarMs' -> 'p95') = 'number' THEN
    greatest(0, least(round((call.latency -> 'mouthToEarMs' ->> 'p95')::numeric), 2000000000)) END;
  -- A document has room for 1 MB; words beyond 200,000 characters of one call are not found.
  made.document := array_to_tsvector(facets) || to_tsvector('simple', left(words, 200000));
  RETURN made;
END
$$;

CREATE FUNCTION call_search_write(call calls) RETURNS void LANGUAGE sql AS $$
  INSERT INTO call_search SELECT found.* FROM call_search_of(call) AS found
  ON CONFLICT (call_uuid) DO UPDATE SET
    created_at = EXCLUDED.created_at, talk_ms = EXCLUDED.talk_ms, mouth_to_ear_p95_ms = EXCLUDED.mouth_to_ear_p95_ms, document = EXCLUDED.document
$$;

CREATE FUNCTION call_search_keep() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM call_search_write(NEW);
  RETURN NULL;
END
$$;

INSERT INTO call_search SELECT found.* FROM calls c, LATERAL call_search_of(c) AS found;

CREATE INDEX call_search_recent ON call_search (workspace_id, created_at DESC, call_uuid DESC);
CREATE INDEX call_search_document ON call_search USING gin (document);
CREATE INDEX call_search_talk ON call_search (workspace_id, talk_ms) WHERE talk_ms IS NOT NULL;
CREATE INDEX call_search_mouth_to_ear ON call_search (workspace_id, mouth_to_ear_p95_ms) WHERE mouth_to_ear_p95_ms IS NOT NULL;

CREATE TRIGGER call_search_insert AFTER INSERT ON calls FOR EACH ROW EXECUTE FUNCTION call_search_keep();
-- An operator asked at the command line for the call's end; the service that runs carries it out.
ALTER TABLE calls ADD COLUMN end_asked_at timestamptz;

-- Leases, checkpoints and timers change often and are not searched.
CREATE TRIGGER call_search_update AFTER UPDATE ON calls FOR EACH ROW
  WHEN ((OLD.status, OLD.ended_reason, OLD.fault, OLD.answered_by, OLD.name, OLD.to_number, OLD.from_number, OLD.metadata, OLD.latency,
         OLD.warnings, OLD.transcript_status, OLD.analysis_status, OLD.answered_at, OLD.ended_at, OLD.created_at, OLD.epoch > 1)
    IS DISTINCT FROM
        (NEW.status, NEW.ended_reason, NEW.fault, NEW.answered_by, NEW.name, NEW.to_number, NEW.from_number, NEW.metadata, NEW.latency,
         NEW.warnings, NEW.transcript_status, NEW.analysis_status, NEW.answered_at, NEW.ended_at, NEW.created_at, NEW.epoch > 1))
  EXECUTE FUNCTION call_search_keep();

-- Down Migration
-- Never: a database only moves forward.
