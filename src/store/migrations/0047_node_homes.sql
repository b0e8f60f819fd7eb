-- Where a node runs is more than its data folder: one that was copied has the same name in it.
ALTER TABLE media_runs RENAME COLUMN disk TO home;
COMMENT ON COLUMN media_runs.home IS 'Machine and data folder: two nodes with one name have two.';
-- Another of this name, that wants to start, asks since then whether it lives.
ALTER TABLE media_runs ADD COLUMN asked_at timestamptz;

-- Down Migration
-- Never: a database only moves forward.
