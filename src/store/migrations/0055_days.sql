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
GRANT SELECT ON day_partitions TO PUBLIC;

-- Who could do what with one may do it with another.
CREATE FUNCTION give_rights(name text, rights aclitem[]) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  given record;
BEGIN
  FOR given IN
    SELECT acl.privilege_type, acl.is_grantable, CASE WHEN acl.grantee = 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(acl.grantee)) END AS grantee
      FROM aclexplode(rights) AS acl JOIN pg_class c ON c.oid = to_regclass(quote_ident(name)) AND c.relowner <> acl.grantee
  LOOP
    EXECUTE format('GRANT %s ON TABLE %I TO %s%s', given.privilege_type, name, given.grantee,
                   CASE WHEN given.is_grantable THEN ' WITH GRANT OPTION' ELSE '' END);
  END LOOP;
END
$$;

CREATE FUNCTION copy_rights(of_table text, to_table text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  source pg_class;
BEGIN
  SELECT * INTO source FROM pg_class WHERE oid = to_regclass(quote_ident(of_table));
  EXECUTE format('ALTER TABLE %I OWNER TO %I', to_table, pg_get_userbyid(source.relowner));
  PERFORM give_rights(to_table, source.relacl);
END
$$;

-- What follows runs with the rights of the tables' owner, for whoever may write them.
CREATE FUNCTION assert_days_of(parent text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  IF parent NOT IN ('call_turns', 'call_events') OR NOT has_table_privilege(session_user, parent, 'INSERT') THEN
    RAISE insufficient_privilege USING MESSAGE = format('%s may not change the days of %s', session_user, parent);
  END IF;
END
$$;

-- `made`; `there`: some partition has ids of that day already; `late`: the rest has many rows of it, and they stay there. A few are
-- moved. What is made apart and then attached locks the rest alone, and not its table.
CREATE FUNCTION make_day(parent text, day date) RETURNS text LANGUAGE plpgsql SECURITY DEFINER SET enable_seqscan = off AS $$
DECLARE
  part text := parent || '_' || to_char(day, 'YYYYMMDD');
  rest text := parent || '_rest';
  low uuid := first_id_of_day(day);
  high uuid := first_id_of_day(day + 1);
  is_late boolean;
BEGIN
  PERFORM assert_days_of(parent);
  IF to_regclass(quote_ident(part)) IS NOT NULL OR EXISTS (
    SELECT 1 FROM day_partitions d WHERE d.parent = make_day.parent AND d.to_id > low AND (d.from_id IS NULL OR d.from_id < high)) THEN
    RETURN 'there';
  END IF;
  EXECUTE format('SELECT EXISTS (SELECT 1 FROM %I WHERE call_uuid >= $1 AND call_uuid < $2 OFFSET 1000)', rest) INTO is_late USING low, high;
  IF is_late THEN
    RETURN 'late';
  END IF;
  EXECUTE format('CREATE TABLE %I (LIKE %I INCLUDING ALL EXCLUDING IDENTITY)', part, parent);
  PERFORM copy_rights(parent, part);
  -- In the order of whoever analyses the table.
  EXECUTE format('LOCK TABLE ONLY %I IN SHARE UPDATE EXCLUSIVE MODE', parent);
  EXECUTE format('LOCK TABLE %I IN ACCESS EXCLUSIVE MODE', rest);
  EXECUTE format('WITH late AS (DELETE FROM %I WHERE call_uuid >= $1 AND call_uuid < $2 RETURNING *) INSERT INTO %I SELECT * FROM late', rest, part)
    USING low, high;
  EXECUTE format('ALTER TABLE %I ATTACH PARTITION %I FOR VALUES FROM (%L) TO (%L)', parent, part, low, high);
  PERFORM rest_without(parent, day, 'allow');
  RETURN 'made';
END
$$;

-- A rest with rows in it would be read under its lock when a day is attached. So it says before that it has none of the day: `refuse`,
-- for new rows; `check`, for all, read beside running writes; `allow` takes it back.
CREATE FUNCTION rest_without(parent text, day date, step text) RETURNS void LANGUAGE plpgsql SECURITY DEFINER AS $$
DECLARE
  rest text := parent || '_rest';
  word text := 'without_' || to_char(day, 'YYYYMMDD');
  is_said boolean := EXISTS (SELECT 1 FROM pg_constraint WHERE conrelid = to_regclass(quote_ident(rest)) AND conname = word);
BEGIN
  PERFORM assert_days_of(parent);
  IF step = 'refuse' AND NOT is_said THEN
    EXECUTE format('ALTER TABLE %I ADD CONSTRAINT %I CHECK (call_uuid < %L OR call_uuid >= %L) NOT VALID', rest, word,
                   first_id_of_day(day), first_id_of_day(day + 1));
  ELSIF step = 'check' THEN
    EXECUTE format('ALTER TABLE %I VALIDATE CONSTRAINT %I', rest, word);
  ELSIF step = 'allow' AND is_said THEN
    EXECUTE format('ALTER TABLE %I DROP CONSTRAINT %I', rest, word);
  END IF;
END
$$;

-- Drops a partition in which there is no row, and which nobody can get one into meanwhile. False: it has some, or is none.
CREATE FUNCTION drop_day(name text) RETURNS boolean LANGUAGE plpgsql SECURITY DEFINER SET enable_seqscan = off AS $$
DECLARE
  parent text;
  is_used boolean;
BEGIN
  SELECT d.parent INTO parent FROM day_partitions d WHERE d.name = drop_day.name AND d.to_id IS NOT NULL;
  IF parent IS NULL THEN
    RETURN false;
  END IF;
  PERFORM assert_days_of(parent);
  -- Who writes it is waited for; who reads it is not.
  EXECUTE format('LOCK TABLE %I IN SHARE MODE', name);
  EXECUTE format('SELECT EXISTS (SELECT 1 FROM %I)', name) INTO is_used;
  IF NOT is_used THEN
    -- Last: from here to the commit nobody can use the whole.
    EXECUTE format('DROP TABLE %I', name);
  END IF;
  RETURN NOT is_used;
END
$$;

-- Puts a partitioned table in the place of one that is not, whose rows stay where they are: it becomes the partition of all ids before
-- a day, believed by its constraint `until_days`. An empty one goes.
CREATE FUNCTION begin_days(parent text) RETURNS void LANGUAGE plpgsql SET enable_seqscan = off AS $$
DECLARE
  before text := parent || '_before';
  rest text := parent || '_rest';
  today date := (clock_timestamp() AT TIME ZONE 'UTC')::date;
  is_used boolean;
  key text;
  until_id uuid;
BEGIN
  EXECUTE format('LOCK TABLE %I IN ACCESS EXCLUSIVE MODE', parent);
  EXECUTE format('SELECT EXISTS (SELECT 1 FROM %I)', parent) INTO is_used;
  SELECT pg_get_constraintdef(oid) INTO key FROM pg_constraint WHERE conrelid = parent::regclass AND contype = 'p';
  SELECT substring(pg_get_constraintdef(oid) FROM '''([0-9a-f-]{36})''')::uuid INTO STRICT until_id
    FROM pg_constraint WHERE conrelid = parent::regclass AND conname = 'until_days';
  EXECUTE format('ALTER TABLE %I RENAME CONSTRAINT %I TO %I', parent, parent || '_pkey', before || '_pkey');
  EXECUTE format('ALTER TABLE %I RENAME TO %I', parent, before);
  EXECUTE format('CREATE TABLE %I (LIKE %I INCLUDING DEFAULTS INCLUDING STORAGE) PARTITION BY RANGE (call_uuid)', parent, before);
  EXECUTE format('ALTER TABLE %I ADD CONSTRAINT %I %s', parent, parent || '_pkey', key);
  PERFORM copy_rights(before, parent);
  IF to_regclass(quote_ident(rest)) IS NULL THEN
    EXECUTE format('CREATE TABLE %I PARTITION OF %I DEFAULT', rest, parent);
    PERFORM copy_rights(before, rest);
  ELSE
    EXECUTE format('ALTER TABLE %I NO INHERIT %I', rest, before);
    EXECUTE format('ALTER TABLE %I ATTACH PARTITION %I DEFAULT', parent, rest);
  END IF;
  IF is_used THEN
    EXECUTE format('ALTER TABLE %I ATTACH PARTITION %I FOR VALUES FROM (MINVALUE) TO (%L)', parent, before, until_id);
    EXECUTE format('ALTER TABLE %I DROP CONSTRAINT until_days', before);
  ELSE
    EXECUTE format('DROP TABLE %I', before);
    FOR ahead IN -1 .. 7 LOOP
      PERFORM make_day(parent, today + ahead);
    END LOOP;
  END IF;
END
$$;

DO $$
DECLARE
  name text;
BEGIN
  FOREACH name IN ARRAY ARRAY['make_day(text, date)', 'rest_without(text, date, text)', 'drop_day(text)'] LOOP
    EXECUTE format('ALTER FUNCTION %s OWNER TO %I', name, (SELECT pg_get_userbyid(relowner) FROM pg_class WHERE oid = 'call_turns'::regclass));
    EXECUTE format('ALTER FUNCTION %s SET search_path TO %I, pg_temp', name, current_schema());
  END LOOP;
END
$$;

-- What there is already is kept in the partition of all ids before a day two months from now: in that time the files that follow must
-- have run. Ids that are later still, of a clock that was wrong, go into a table below this one, where they are seen as ever.
SET LOCAL enable_seqscan = off;
-- An autovacuum is displaced by this, as in 0054.
SET LOCAL lock_timeout = '3s';
LOCK TABLE call_turns, call_events IN SHARE UPDATE EXCLUSIVE MODE;
SET LOCAL lock_timeout = '500ms';
DO $$
DECLARE
  of_table text;
  until_id uuid := first_id_of_day((clock_timestamp() AT TIME ZONE 'UTC')::date + 61);
  is_later boolean;
BEGIN
  FOREACH of_table IN ARRAY ARRAY['call_turns', 'call_events'] LOOP
    EXECUTE format('ALTER TABLE %I ADD CONSTRAINT until_days CHECK (call_uuid < %L::uuid) NO INHERIT NOT VALID', of_table, until_id);
    EXECUTE format('SELECT EXISTS (SELECT 1 FROM %I WHERE call_uuid >= %L)', of_table, until_id) INTO is_later;
    CONTINUE WHEN NOT is_later;
    EXECUTE format('CREATE TABLE %I () INHERITS (%I)', of_table || '_rest', of_table);
    PERFORM copy_rights(of_table, of_table || '_rest');
    EXECUTE format('WITH later AS (DELETE FROM ONLY %I WHERE call_uuid >= %L RETURNING *) INSERT INTO %I SELECT * FROM later',
                   of_table, until_id, of_table || '_rest');
  END LOOP;
END
$$;

-- Down Migration
-- Never: a database only moves forward.
