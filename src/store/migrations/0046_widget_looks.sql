-- Up Migration
-- How the widget looks on the websites of a key, as its owner has set it. No row: as it comes.

CREATE TABLE widget_looks (
  public_key text PRIMARY KEY REFERENCES widget_keys (public_key) ON DELETE CASCADE,
  -- {name, color, language, position, panel, typing, transcript, errorText}
  look jsonb NOT NULL,
  -- as it came, small; null: none
  picture bytea,
  picture_type text CHECK (picture_type IN ('image/png', 'image/jpeg', 'image/webp')),
  updated_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  CHECK ((picture IS NULL) = (picture_type IS NULL))
);

-- Down Migration
-- Never: a database only moves forward.
