-- Up Migration
-- Views of the call log that people keep under a name: their own, or for everybody in the workspace.

CREATE TABLE saved_views (
  id uuid PRIMARY KEY,
  workspace_id uuid NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
  -- who made it
  user_id uuid NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  name text NOT NULL CHECK (length(name) BETWEEN 1 AND 120),
  -- filters as an address has them: status=failed&createdAfter=…
  query text NOT NULL CHECK (length(query) <= 4000),
  is_shared boolean NOT NULL DEFAULT false,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE UNIQUE INDEX saved_views_name ON saved_views (workspace_id, user_id, lower(name));
CREATE INDEX saved_views_shared ON saved_views (workspace_id) WHERE is_shared;

-- Down Migration
-- Never: a database only moves forward.
