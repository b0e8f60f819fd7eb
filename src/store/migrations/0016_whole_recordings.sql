-- Up Migration
-- One recording of the whole call, joined from those of its streams: the row of epoch 0 in call_recordings, made when a call that had more
-- than one stream, or lost its last one, is over. Its state `recording` says that it waits for its parts or is being joined.

-- Where 0 of the stream's time line is: each part finds its place by it.
ALTER TABLE call_recordings ADD COLUMN stream_started_at timestamptz;
-- What is due, whatever is to be done with it.
CREATE INDEX call_recordings_next ON call_recordings (next_at) WHERE next_at IS NOT NULL;

-- Down Migration
-- Never: a database only moves forward.
