-- Up Migration
-- What the life of a call must remember across a restart of control: its own timers, and how it is ending.

ALTER TABLE calls
  -- contract §1: bounds of ringing and of the talk, settled when the call is made
  ADD COLUMN ring_timeout_seconds integer NOT NULL DEFAULT 30 CHECK (ring_timeout_seconds > 0),
  ADD COLUMN max_duration_seconds integer NOT NULL DEFAULT 1800 CHECK (max_duration_seconds > 0),
  -- what to do when the carrier accepts after the client was told that the outcome is unknown
  ADD COLUMN late_acceptance text NOT NULL DEFAULT 'cancel' CHECK (late_acceptance IN ('continue', 'cancel')),
  -- when the outcome of the carrier request was learnt
  ADD COLUMN submission_at timestamptz,
  -- set once, by the first that ends the call: {reason, hangupBy, sipCode, carrierCause, error, atEpochMs}
  ADD COLUMN ending jsonb;

-- Down Migration
-- Never: a database only moves forward.
