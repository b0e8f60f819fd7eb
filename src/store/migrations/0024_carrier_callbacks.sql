-- Up Migration
-- Signed callbacks of carriers that were acted on, for the life of their call: a copy of one changes nothing. The
-- hourly purge removes those of calls that are over. The digest is that of the right signature, which covers address,
-- parameters and nonce.
CREATE TABLE carrier_callbacks (
  call_uuid uuid NOT NULL REFERENCES calls ON DELETE CASCADE,
  signature_sha256 bytea NOT NULL,
  PRIMARY KEY (call_uuid, signature_sha256)
);
