-- Up Migration
-- Reads the tables once, beside running writes, so that nobody has to wait for it later.
DO $$
DECLARE
  of_table text;
BEGIN
  FOR of_table IN SELECT conrelid::regclass::text FROM pg_constraint
    WHERE conname = 'until_days' AND conrelid IN ('call_turns'::regclass, 'call_events'::regclass)
  LOOP
    EXECUTE format('ALTER TABLE %s VALIDATE CONSTRAINT until_days', of_table);
  END LOOP;
END
$$;

-- Down Migration
-- Never: a database only moves forward.
