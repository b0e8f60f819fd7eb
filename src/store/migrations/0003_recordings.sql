-- Up Migration
-- A call that came back after a media process died has a recording for each of its streams: [{"epoch": 1, …facts}], by epoch.
-- `recording` stays the first of them.

ALTER TABLE calls ADD COLUMN recordings jsonb NOT NULL DEFAULT '[]';
UPDATE calls SET recordings = jsonb_build_array(recording || '{"epoch": 1}') WHERE recording IS NOT NULL;

-- Down Migration
-- Never: a database only moves forward.
