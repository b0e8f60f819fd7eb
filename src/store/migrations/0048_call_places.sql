-- Where a call is to land, and at which address that is.
ALTER TABLE media_runs
  -- ws(s) address of the node's streams, without a slash at its end; null: streams of any node come to the public address
  ADD COLUMN stream_base text,
  -- by what it measures; null: not known
  ADD COLUMN more_calls integer;
ALTER TABLE calls ADD COLUMN assigned_run text;

-- Down Migration
-- Never: a database only moves forward.
