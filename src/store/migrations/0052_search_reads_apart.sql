-- Up Migration
-- The search row of a call is made as before, but what it reads of events and turns is asked by statements of its own, and only once
-- there is something to be found: these tables get partitions (0057, 0058), and a plan for any call would open and lock all of them. What
-- is EXECUTEd is planned for its call each time; the large one, of facets, reads neither table and keeps its plan.

-- VOLATILE, so that each statement sees what there is when it has its locks: rows may be moved to their day meanwhile.
CREATE OR REPLACE FUNCTION call_search_of(call calls) RETURNS call_search LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  fields jsonb := to_jsonb(call);
  findings jsonb := CASE WHEN jsonb_typeof(to_jsonb(call) -> 'analysis') = 'object' THEN to_jsonb(call) -> 'analysis' ELSE '{}' END;
  facets text[];
  words text := '';
  heard text;
  recovered boolean := call.epoch > 1;
  made call_search;
BEGIN
  IF NOT recovered AND call.ended_at IS NOT NULL THEN
    EXECUTE $sql$SELECT EXISTS (SELECT 1 FROM call_events e WHERE e.call_uuid = $1 AND e.kind = 'recovery')$sql$
      INTO recovered USING call.call_uuid;
  END IF;

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
    SELECT 'hasRecovery', 'true' WHERE recovered
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
    EXECUTE $sql$SELECT string_agg(t.turn ->> 'heardText', ' . ' ORDER BY t.position) FROM call_turns t WHERE t.call_uuid = $1$sql$
      INTO heard USING call.call_uuid;
    words := concat_ws(' . ', words, heard);
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

CREATE OR REPLACE FUNCTION call_search_write(call calls) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  made call_search := call_search_of(call);
  is_unclear boolean;
  is_cut_off boolean;
BEGIN
  IF call.transcript_status = 'ready' THEN
    EXECUTE $sql$SELECT bool_or(t.turn ? 'unclear'), bool_or(t.turn @> '{"role": "agent", "interrupted": true}')
                   FROM call_turns t WHERE t.call_uuid = $1$sql$
      INTO is_unclear, is_cut_off USING call.call_uuid;
    IF is_unclear THEN
      made.document := made.document || array_to_tsvector(ARRAY[call_facet('hasUnclear', 'true')]);
    END IF;
    IF is_cut_off THEN
      made.document := made.document || array_to_tsvector(ARRAY[call_facet('hasBargeIn', 'true')]);
    END IF;
  END IF;
  INSERT INTO call_search (call_uuid, workspace_id, created_at, talk_ms, mouth_to_ear_p95_ms, document)
  VALUES (made.call_uuid, made.workspace_id, made.created_at, made.talk_ms, made.mouth_to_ear_p95_ms, made.document)
  ON CONFLICT (call_uuid) DO UPDATE SET
    created_at = EXCLUDED.created_at, talk_ms = EXCLUDED.talk_ms, mouth_to_ear_p95_ms = EXCLUDED.mouth_to_ear_p95_ms, document = EXCLUDED.document;
END
$$;

-- Down Migration
-- Never: a database only moves forward.
