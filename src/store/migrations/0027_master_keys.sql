-- Up Migration
-- Which master key this database is sealed under, told by values that only who has the key can make: two nodes with two keys do not get
-- past their start, and a rotation knows how far it is.

CREATE TABLE master_keys (
  key_id bytea PRIMARY KEY,
  salt bytea NOT NULL,
  -- made of key and salt
  check_value bytea NOT NULL,
  -- `coming`: every node must know it before it seals; `leaving`: values may still lie under it
  state text NOT NULL CHECK (state IN ('coming', 'sealing', 'leaving')),
  since timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE UNIQUE INDEX master_keys_state ON master_keys (state);

-- Who seals and opens at present: a rotation goes on when all of them are ready for it.
CREATE TABLE master_key_holders (
  holder uuid PRIMARY KEY,
  -- for people: `control` or the command
  name text NOT NULL,
  knows bytea[] NOT NULL,
  seals_with bytea NOT NULL,
  seen_at timestamptz NOT NULL DEFAULT clock_timestamp()
);

-- Down Migration
-- Never: a database only moves forward.
