-- Up Migration
-- Leads, their import, the suppression list, and the permit that every dial needs (contract §4, §5, §15).

CREATE TABLE leads (
  id uuid PRIMARY KEY,
  workspace_id uuid NOT NULL REFERENCES workspaces (id),
  phone text NOT NULL CHECK (phone ~ '^\+[1-9][0-9]{6,14}$'),
  -- what was not given stays null, so that an upsert changes only what it names
  agent_id uuid REFERENCES agents (id),
  name text,
  notes text,
  source text,
  metadata jsonb,
  external_id text,
  timezone text,
  consent jsonb,
  status text NOT NULL DEFAULT 'new' CHECK (status IN ('new', 'calling', 'contacted', 'no_answer', 'failed', 'do_not_contact')),
  call_count integer NOT NULL DEFAULT 0,
  -- neither is a reference: a throttled attempt's call goes away again
  last_call_uuid uuid,
  -- {status, lastCallUuid} from before the last call, for an attempt that turns out to be no call
  before_call jsonb,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now()
);
CREATE UNIQUE INDEX leads_external_id ON leads (workspace_id, external_id) WHERE external_id IS NOT NULL;
CREATE INDEX leads_recent ON leads (workspace_id, id DESC);
CREATE INDEX leads_phone ON leads (workspace_id, phone, id);

CREATE TABLE lead_imports (
  id uuid PRIMARY KEY,
  workspace_id uuid NOT NULL REFERENCES workspaces (id),
  format text NOT NULL CHECK (format IN ('csv', 'ndjson')),
  state text NOT NULL DEFAULT 'queued' CHECK (state IN ('queued', 'running', 'completed', 'failed')),
  -- the file as it came, until it is done
  content bytea,
  -- for rows that do not say: {agentId, source}
  defaults jsonb NOT NULL DEFAULT '{}',
  total_rows integer NOT NULL,
  -- rows 1 to processed_rows are done: stored or refused
  processed_rows integer NOT NULL DEFAULT 0,
  created_count integer NOT NULL DEFAULT 0,
  updated_count integer NOT NULL DEFAULT 0,
  failed_count integer NOT NULL DEFAULT 0,
  ignored_columns jsonb NOT NULL DEFAULT '[]',
  error text,
  lease_until timestamptz,
  lease_epoch integer NOT NULL DEFAULT 0,
  created_at timestamptz NOT NULL DEFAULT now(),
  started_at timestamptz,
  finished_at timestamptz
);
CREATE INDEX lead_imports_open ON lead_imports (id) WHERE state IN ('queued', 'running');
CREATE INDEX lead_imports_workspace ON lead_imports (workspace_id, id DESC);

CREATE TABLE lead_import_errors (
  import_id uuid NOT NULL REFERENCES lead_imports (id),
  -- 1 is the first row of data
  row integer NOT NULL,
  line integer NOT NULL,
  field text,
  code text NOT NULL,
  message text NOT NULL,
  PRIMARY KEY (import_id, row)
);

CREATE TABLE suppressions (
  workspace_id uuid NOT NULL REFERENCES workspaces (id),
  phone text NOT NULL CHECK (phone ~ '^\+[1-9][0-9]{6,14}$'),
  id uuid NOT NULL,
  reason text,
  source text NOT NULL CHECK (source IN ('api', 'operator', 'call')),
  call_uuid uuid,
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (workspace_id, phone)
);
CREATE INDEX suppressions_recent ON suppressions (workspace_id, id DESC);

-- What a workspace allows its dials; no row means the defaults.
CREATE TABLE calling_policies (
  workspace_id uuid PRIMARY KEY REFERENCES workspaces (id),
  -- raised by every change of the policy, and of the list
  version integer NOT NULL DEFAULT 0,
  suppression_version bigint NOT NULL DEFAULT 0,
  -- {start, end, days, timezone}; null: any time
  calling_window jsonb,
  -- ISO 3166 codes; null: any country
  allowed_countries text[],
  blocked_countries text[] NOT NULL DEFAULT '{}',
  -- contract §2: refuse a call while one of the same to, agent and line is not over
  guard_calls boolean NOT NULL DEFAULT false,
  guard_leads boolean NOT NULL DEFAULT true,
  -- what a lead's call uses when nothing names another
  default_agent_id uuid REFERENCES agents (id),
  default_line_id uuid REFERENCES phone_lines (id)
);

ALTER TABLE agents ADD COLUMN line_id uuid REFERENCES phone_lines (id);

-- Written in the transaction that makes the call. No reference to it: that it was dialled stays true when the call is deleted.
CREATE TABLE dial_permits (
  id uuid PRIMARY KEY,
  workspace_id uuid NOT NULL REFERENCES workspaces (id),
  call_uuid uuid NOT NULL,
  phone text NOT NULL,
  -- the exact text that is signed
  body text NOT NULL,
  signature bytea NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX dial_permits_call ON dial_permits (call_uuid);
CREATE INDEX dial_permits_phone ON dial_permits (workspace_id, phone, id);

ALTER TABLE calls
  ADD COLUMN lead_id uuid,
  -- {notes, source} of the lead, for placeholders
  ADD COLUMN lead_values jsonb,
  -- {permitId, window}
  ADD COLUMN compliance jsonb,
  -- with idempotency_key: whose key it is; null means POST /api/outbound-call
  ADD COLUMN idempotency_path text;
CREATE UNIQUE INDEX calls_one_live_a_lead ON calls (lead_id)
  WHERE lead_id IS NOT NULL AND status IN ('queued', 'dialing', 'ringing', 'in_progress');
CREATE INDEX calls_live_to ON calls (workspace_id, to_number) WHERE status IN ('queued', 'dialing', 'ringing', 'in_progress');
CREATE INDEX calls_lead ON calls (lead_id) WHERE lead_id IS NOT NULL;

-- Down Migration
-- Never: a database only moves forward.
