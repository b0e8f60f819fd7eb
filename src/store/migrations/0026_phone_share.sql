-- Up Migration
-- Of a workspace's calls at once, so many never go to web sessions. Null, where nobody has said: half of them, rounded up.
-- `reserved_phone_calls`, whose default was none, is only carried over: nothing reads or writes it any more.
ALTER TABLE workspaces ADD COLUMN phone_calls_kept integer CHECK (phone_calls_kept >= 0);

-- 0 is somebody's word only where it was another number before.
UPDATE workspaces w SET phone_calls_kept = reserved_phone_calls
 WHERE reserved_phone_calls > 0 OR EXISTS (
   SELECT 1 FROM audit_log a WHERE a.workspace_id = w.id AND a.action = 'workspace.limits_changed'
      AND coalesce(a.before::jsonb ->> 'reservedPhoneCalls', '0') <> '0');

-- Down Migration
-- Never: a database only moves forward.
