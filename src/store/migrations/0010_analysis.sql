-- Up Migration
-- What a finished call was about, and who still owes an answered call its `analysis.completed`.

-- {summary, intent, intentConfidence, sentiment, successful, successReason, data, language, disposition, evidence, model}
ALTER TABLE calls ADD COLUMN analysis jsonb;

-- Written with the terminal state of an answered call, gone with its `analysis.completed`: while the row is here the event is owed.
CREATE TABLE analysis_jobs (
  call_uuid uuid PRIMARY KEY REFERENCES calls (call_uuid) ON DELETE CASCADE,
  workspace_id uuid NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
  due_at timestamptz NOT NULL,
  -- from here on no model is waited for, and whoever sees the row first takes it
  give_up_at timestamptz NOT NULL,
  claimed_until timestamptz,
  attempts integer NOT NULL DEFAULT 0
);
CREATE INDEX analysis_jobs_due ON analysis_jobs (due_at);
-- Ever, whatever claims overlap.
CREATE UNIQUE INDEX webhook_events_one_analysis ON webhook_events (call_uuid) WHERE event = 'analysis.completed';

-- The OpenAI-compatible chat endpoint of a workspace; without one a local heuristic reads its calls.
CREATE TABLE model_endpoints (
  workspace_id uuid PRIMARY KEY REFERENCES workspaces (id) ON DELETE CASCADE,
  base_url text NOT NULL,
  model text NOT NULL,
  -- null: the server wants no key
  key_sealed bytea,
  updated_at timestamptz NOT NULL DEFAULT now()
);

-- An analysis that is made again finds its way into the search; its first one comes with its status.
CREATE TRIGGER call_search_analysis AFTER UPDATE ON calls FOR EACH ROW
  WHEN (OLD.analysis IS DISTINCT FROM NEW.analysis AND OLD.analysis_status = NEW.analysis_status)
  EXECUTE FUNCTION call_search_keep();

-- Down Migration
-- Never: a database only moves forward.
