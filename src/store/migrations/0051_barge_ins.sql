-- Up Migration
-- `hasBargeIn`: the caller cut the agent off in the call. Of calls whose transcript is written from here on; earlier ones are not gone through.

CREATE OR REPLACE FUNCTION call_search_write(call calls) RETURNS void LANGUAGE sql AS $$
  INSERT INTO call_search (call_uuid, workspace_id, created_at, talk_ms, mouth_to_ear_p95_ms, document)
  SELECT found.call_uuid, found.workspace_id, found.created_at, found.talk_ms, found.mouth_to_ear_p95_ms,
         found.document || CASE WHEN call.transcript_status = 'ready' AND EXISTS (
           SELECT 1 FROM call_turns t WHERE t.call_uuid = call.call_uuid AND t.turn ? 'unclear'
         ) THEN array_to_tsvector(ARRAY[call_facet('hasUnclear', 'true')]) ELSE ''::tsvector END
         || CASE WHEN call.transcript_status = 'ready' AND EXISTS (
           SELECT 1 FROM call_turns t WHERE t.call_uuid = call.call_uuid AND t.turn @> '{"role": "agent", "interrupted": true}'
         ) THEN array_to_tsvector(ARRAY[call_facet('hasBargeIn', 'true')]) ELSE ''::tsvector END
    FROM call_search_of(call) AS found
  ON CONFLICT (call_uuid) DO UPDATE SET
    created_at = EXCLUDED.created_at, talk_ms = EXCLUDED.talk_ms, mouth_to_ear_p95_ms = EXCLUDED.mouth_to_ear_p95_ms, document = EXCLUDED.document
$$;

-- Down Migration
-- Never: a database only moves forward.
