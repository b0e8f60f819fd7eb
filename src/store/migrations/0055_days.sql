-- Up Migration
-- Partitions by day: of tables whose rows belong to a call, by the call's id, a UUIDv7, which begins with the time at which it was made.
-- `docs/decisions/partitions.md` says why they are so. `src/store/day-maker.ts` makes the days, `src/retention/day-removal.ts` drops them.

-- The least id that can be made at that time.
CREATE FUNCTION first_id_of(at timestamptz) RETURNS uuid LANGUAGE sql STABLE AS $$
  SELECT (lpad(to_hex(floor(extract(epoch FROM at) * 1000)::bigint), 12, '0') || repeat('0', 20))::uuid
$$;

-- Midnight of UTC.
CREATE FUNCTION first_id_of_day(day date) RETURNS uuid LANGUAGE sql STABLE AS $$
  SELECT first_id_of(day::timestamp AT TIME ZONE 'UTC')
$$;

-- All partitions there are, from the catalogue. `from_id` null: from the beginning; both null: the rest, for ids of no other.
CREATE VIEW day_partitions AS
  SELECT parent.relname::text AS parent, part.relname::text AS name,
         substring(bound.said FROM 'FROM \(''([0-9a-f-]{36})''\)')::uuid AS from_id,
         substring(bound.said FROM 'TO \(''([0-9a-f-]{36})''\)')::uuid AS to_id
    FROM pg_inherits i JOIN pg_class parent ON parent.oid = i.inhparent AND parent.relkind = 'p'
    JOIN pg_class part ON part.oid = i.inhrelid
    CROSS JOIN LATERAL (SELECT pg_get_expr(part.relpartbound, part.oid) AS said) AS bound
   WHERE pg_table_is_visible(parent.oid);

-- Partitions that were taken out of their table, to be dropped when every call of theirs has its receipt.
CREATE TABLE days_taken_out (
  name text PRIMARY KEY,
  parent text NOT NULL,
  -- null: from the beginning
  from_id uuid,
  to_id uuid NOT NULL,
  at timestamptz NOT NULL DEFAULT clock_timestamp()
);

-- `made`; `there`: some partition has ids of that day already; `late`: the rest has, and they stay there. What is made apart and then
-- attached locks the rest alone, and not its table.
CREATE FUNCTION make_day(parent text, day date) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  part text := parent || '_' || to_char(day, 'YYYYMMDD');
  low uuid := first_id_of_day(day);
  high uuid := first_id_of_day(day + 1);
  is_late boolean;
BEGIN
  IF to_regclass(quote_ident(part)) IS NOT NULL OR EXISTS (
    SELECT 1 FROM day_partitions d WHERE d.parent = make_day.parent AND d.to_id > low AND (d.from_id IS NULL OR d.from_id < high)) THEN
    RETURN 'there';
  END IF;
  EXECUTE format('SELECT EXISTS (SELECT 1 FROM %I WHERE call_uuid >= $1 AND call_uuid < $2)', parent || '_rest')
     INTO is_late USING low, high;
  IF is_late THEN
    RETURN 'late';
  END IF;
  EXECUTE format('CREATE TABLE %I (LIKE %I INCLUDING ALL)', part, parent);
  EXECUTE format('ALTER TABLE %I ATTACH PARTITION %I FOR VALUES FROM (%L) TO (%L)', parent, part, low, high);
  RETURN 'made';
END
$$;

-- Puts a partitioned table in the place of one that is not, whose rows stay where they are: it becomes the partition of all ids before
-- a day, where its constraint `until_days` says that it has no others; without that, of few rows, they are looked at. An empty one goes.
CREATE FUNCTION begin_days(parent text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  before text := parent || '_before';
  aside text := parent || '_aside';
  today date := (clock_timestamp() AT TIME ZONE 'UTC')::date;
  first_day date := today + 8;
  was_used boolean;
  key text;
  until_id uuid;
BEGIN
  EXECUTE format('LOCK TABLE %I IN ACCESS EXCLUSIVE MODE', parent);
  EXECUTE format('SELECT EXISTS (SELECT 1 FROM %I)', parent) INTO was_used;
  SELECT pg_get_constraintdef(oid) INTO key FROM pg_constraint WHERE conrelid = parent::regclass AND contype = 'p';
  EXECUTE format('ALTER TABLE %I RENAME CONSTRAINT %I TO %I', parent, parent || '_pkey', before || '_pkey');
  EXECUTE format('ALTER TABLE %I RENAME TO %I', parent, before);
  EXECUTE format('CREATE TABLE %I (LIKE %I INCLUDING DEFAULTS INCLUDING STORAGE) PARTITION BY RANGE (call_uuid)', parent, before);
  EXECUTE format('ALTER TABLE %I ADD CONSTRAINT %I %s', parent, parent || '_pkey', key);
  -- Who could read it can read it still.
  PERFORM copy_grants(before, parent);
  IF was_used THEN
    SELECT substring(pg_get_constraintdef(oid) FROM '''([0-9a-f-]{36})''')::uuid INTO until_id
      FROM pg_constraint WHERE conrelid = before::regclass AND conname = 'until_days';
    IF until_id IS NULL THEN
      until_id := first_id_of_day(first_day);
    ELSE
      first_day := (to_timestamp(('x' || left(replace(until_id::text, '-', ''), 12))::bit(48)::bigint / 1000) AT TIME ZONE 'UTC')::date;
    END IF;
    EXECUTE format('ALTER TABLE %I ATTACH PARTITION %I FOR VALUES FROM (MINVALUE) TO (%L)', parent, before, until_id);
    EXECUTE format('ALTER TABLE %I DROP CONSTRAINT IF EXISTS until_days', before);
  ELSE
    EXECUTE format('DROP TABLE %I', before);
    first_day := today - 1;
  END IF;
  EXECUTE format('CREATE TABLE %I PARTITION OF %I DEFAULT', parent || '_rest', parent);
  FOR ahead IN 0 .. greatest(2, today + 7 - first_day) LOOP
    PERFORM make_day(parent, first_day + ahead);
  END LOOP;
  IF to_regclass(quote_ident(aside)) IS NOT NULL THEN
    EXECUTE format('INSERT INTO %I SELECT * FROM %I', parent, aside);
    EXECUTE format('DROP TABLE %I', aside);
  END IF;
END
$$;

CREATE FUNCTION copy_grants(of_table text, to_table text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  given record;
BEGIN
  FOR given IN
    SELECT acl.privilege_type, acl.is_grantable, CASE WHEN acl.grantee = 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(acl.grantee)) END AS grantee
      FROM pg_class c CROSS JOIN LATERAL aclexplode(c.relacl) AS acl WHERE c.oid = of_table::regclass AND acl.grantee <> c.relowner
  LOOP
    EXECUTE format('GRANT %s ON TABLE %I TO %s%s', given.privilege_type, to_table, given.grantee,
                   CASE WHEN given.is_grantable THEN ' WITH GRANT OPTION' ELSE '' END);
  END LOOP;
END
$$;

-- What there is already is kept in the partition of all ids before a day a week from now: a week in which the files that follow must
-- have run. An empty table needs no such word. Ids that are later still, of a clock that was wrong, are laid aside until then.
SET LOCAL lock_timeout = '500ms';
DO $$
DECLARE
  of_table text;
  until_id uuid := first_id_of_day((clock_timestamp() AT TIME ZONE 'UTC')::date + 8);
  is_so boolean;
BEGIN
  FOREACH of_table IN ARRAY ARRAY['call_turns', 'call_events'] LOOP
    EXECUTE format('SELECT EXISTS (SELECT 1 FROM %I)', of_table) INTO is_so;
    CONTINUE WHEN NOT is_so;
    EXECUTE format('ALTER TABLE %I ADD CONSTRAINT until_days CHECK (call_uuid < %L::uuid) NOT VALID', of_table, until_id);
    EXECUTE format('SELECT EXISTS (SELECT 1 FROM %I WHERE call_uuid >= %L)', of_table, until_id) INTO is_so;
    CONTINUE WHEN NOT is_so;
    EXECUTE format('CREATE TABLE %I AS SELECT * FROM %I WHERE call_uuid >= %L', of_table || '_aside', of_table, until_id);
    EXECUTE format('DELETE FROM %I WHERE call_uuid >= %L', of_table, until_id);
  END LOOP;
END
$$;

-- Down Migration
-- Never: a database only moves forward.
