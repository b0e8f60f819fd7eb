-- Up Migration
-- What each purge looks for, so that it reads what is old and not the whole table. Without them a table that had grown was read until the
-- statement's time was up, and nothing was removed ever again.

CREATE INDEX idempotency_keys_age ON idempotency_keys (created_at);
CREATE INDEX limit_leases_until ON limit_leases (until);
CREATE INDEX past_line_credentials_age ON past_line_credentials (replaced_at);
CREATE INDEX webhook_deliveries_given_up ON webhook_deliveries (dead_at) WHERE state = 'dead';

-- A key that is being rotated out names its successor; it does not count among the live keys of its workspace.
ALTER TABLE api_keys ADD COLUMN replaced_by text;

-- Down Migration
-- Never: a database only moves forward.
