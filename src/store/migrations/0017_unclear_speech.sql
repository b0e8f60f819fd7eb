-- Up Migration
-- `hasUnclear`: somebody said things in the call that the script did not expect. Of calls from here on: earlier ones kept nothing of such words.

CREATE OR REPLACE FUNCTION call_search_write(call calls) RETURNS void LANGUAGE sql AS $$
  INSERT INTO call_search (call_uuid, workspace_id, created_at, talk_ms, mouth_to_ear_p95_ms, document)
  SELECT found.call_uuid, found.workspace_id, found.created_at, found.talk_ms, found.mouth_to_ear_p95_ms,
         found.document || CASE WHEN call.transcript_status = 'ready' AND EXISTS (
           SELECT 1 FROM call_turns t WHERE t.call_uuid = call.call_uuid AND t.turn ? 'unclear'
         ) THEN array_to_tsvector(ARRAY[call_facet('hasUnclear', 'true')]) ELSE ''::tsvector END
    FROM call_search_of(call) AS found
  ON CONFLICT (call_uuid) DO UPDATE SET
    created_at = EXCLUDED.created_at, talk_ms = EXCLUDED.talk_ms, mouth_to_ear_p95_ms = EXCLUDED.mouth_to_ear_p95_ms, document = EXCLUDED.document
$$;

-- Down Migration
-- Never: a database only moves forward.
