-- Up Migration
-- Partitions by day: of tables whose rows belong to a call, by the call's id, a UUIDv7, which begins with the time at which it was made.
-- `docs/decisions/partitions.md` says why they are so. `src/store/day-maker.ts` makes the days, `src/retention/day-removal.ts` drops them.

-- In what runs later, with the rights of the tables' owner, all names of functions are qualified: where anybody may create functions in
-- this schema, one of his would else be taken that fits its arguments better.

-- The least id that can be made at that time.
CREATE FUNCTION first_id_of(at timestamptz) RETURNS uuid LANGUAGE sql STABLE AS $$
  SELECT (pg_catalog.lpad(pg_catalog.to_hex(pg_catalog.floor(extract(epoch FROM at) OPERATOR(pg_catalog.*) 1000)::bigint), 12, '0')
          || pg_catalog.repeat('0', 20))::uuid
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
    FROM pg_catalog.pg_inherits i JOIN pg_catalog.pg_class parent ON parent.oid = i.inhparent AND parent.relkind = 'p'
    JOIN pg_catalog.pg_class part ON part.oid = i.inhrelid
    CROSS JOIN LATERAL (SELECT pg_catalog.pg_get_expr(part.relpartbound, part.oid) AS said) AS bound
   WHERE pg_catalog.pg_table_is_visible(parent.oid);
GRANT SELECT ON day_partitions TO PUBLIC;

-- Who could do what with one may do it with another.
CREATE FUNCTION give_rights(name text, rights aclitem[]) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  given record;
BEGIN
  FOR given IN
    SELECT acl.privilege_type, acl.is_grantable,
           CASE WHEN acl.grantee = 0::oid THEN 'PUBLIC' ELSE pg_catalog.quote_ident(pg_catalog.pg_get_userbyid(acl.grantee)) END AS grantee
      FROM pg_catalog.aclexplode(rights) AS acl
      JOIN pg_class c ON c.oid = pg_catalog.to_regclass(pg_catalog.quote_ident(name))::oid AND c.relowner <> acl.grantee
  LOOP
    EXECUTE pg_catalog.format('GRANT %s ON TABLE %I TO %s%s', given.privilege_type, name, given.grantee,
                              CASE WHEN given.is_grantable THEN ' WITH GRANT OPTION' ELSE '' END);
  END LOOP;
END
$$;

CREATE FUNCTION copy_rights(of_table text, to_table text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  source pg_class;
BEGIN
  SELECT * INTO source FROM pg_class WHERE oid = pg_catalog.to_regclass(pg_catalog.quote_ident(of_table))::oid;
  EXECUTE pg_catalog.format('ALTER TABLE %I OWNER TO %I', to_table, pg_catalog.pg_get_userbyid(source.relowner));
  PERFORM give_rights(to_table, source.relacl);
END
$$;

-- What follows runs with the rights of the tables' owner, for whoever may write them.
CREATE FUNCTION assert_days_of(parent text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  IF parent IS NULL OR parent NOT IN ('call_turns', 'call_events')
     OR NOT pg_catalog.has_table_privilege(session_user, parent, 'INSERT'::text) THEN
    RAISE insufficient_privilege USING MESSAGE = pg_catalog.format('%s may not change the days of %s', session_user, parent);
  END IF;
END
$$;

-- With a snapshot from before its lock, a statement does not see the row that somebody has committed meanwhile.
CREATE FUNCTION assert_read_committed() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  IF pg_catalog.current_setting('transaction_isolation'::text) <> 'read committed' THEN
    RAISE invalid_transaction_state USING MESSAGE = 'days are changed under READ COMMITTED alone: rows that are there would not be seen';
  END IF;
END
$$;

-- Who may write rows makes days of about now, and not as many as there are.
CREATE FUNCTION assert_near(day date) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  IF day IS NULL OR pg_catalog.abs(day - current_date) > 400 THEN
    RAISE invalid_parameter_value USING MESSAGE = pg_catalog.format('%s is more than 400 days from today', day);
  END IF;
END
$$;

-- The table, one of its partitions and the rest, against a vacuum and whoever changes them: an autovacuum is displaced by who waits a
-- second for this lock. It holds up no statement of the service, neither while it waits nor when it is had.
CREATE FUNCTION wait_for_vacuum(parent text, name text) RETURNS void LANGUAGE plpgsql SECURITY DEFINER AS $$
BEGIN
  PERFORM assert_days_of(parent);
  IF EXISTS (SELECT 1 FROM day_partitions d WHERE d.parent = wait_for_vacuum.parent AND d.name = wait_for_vacuum.name) THEN
    -- In the order of whoever analyses the table.
    EXECUTE pg_catalog.format('LOCK TABLE ONLY %I IN SHARE UPDATE EXCLUSIVE MODE', parent);
    EXECUTE pg_catalog.format('LOCK TABLE %I, %I IN SHARE UPDATE EXCLUSIVE MODE', name, parent || '_rest');
  END IF;
END
$$;

-- `made`; `there`: some partition has ids of that day already; `late`: the rest has many rows of it, or is large and the day begins,
-- and its rows stay there. A few are moved. What is made apart and then attached locks the rest alone, and not its table; but where the day is in use, or is about to be, its
-- table too: who has chosen the rest for a row of it, and waits for it, would be refused, and who reads would find the row gone.
CREATE FUNCTION make_day(parent text, day date) RETURNS text LANGUAGE plpgsql SECURITY DEFINER SET enable_seqscan = off AS $$
DECLARE
  part text;
  rest text;
  low uuid;
  high uuid;
  is_late boolean;
  is_used boolean;
BEGIN
  PERFORM assert_days_of(parent);
  PERFORM assert_read_committed();
  PERFORM assert_near(day);
  part := parent || '_' || pg_catalog.to_char(day::timestamp, 'YYYYMMDD'::text);
  rest := parent || '_rest';
  low := first_id_of_day(day);
  high := first_id_of_day(day + 1);
  IF EXISTS (SELECT 1 FROM day_partitions d WHERE d.parent = make_day.parent AND d.to_id > low AND (d.from_id IS NULL OR d.from_id < high)) THEN
    RETURN 'there';
  END IF;
  EXECUTE pg_catalog.format('SELECT EXISTS (SELECT 1 FROM %I WHERE call_uuid >= $1 AND call_uuid < $2 OFFSET 1000)', rest)
    INTO is_late USING low, high;
  IF is_late THEN
    RETURN 'late';
  END IF;
  EXECUTE pg_catalog.format('SELECT EXISTS (SELECT 1 FROM %I WHERE call_uuid >= $1 AND call_uuid < $2)', rest)
    INTO is_used USING low, high;
  is_used := is_used OR low < first_id_of(pg_catalog.clock_timestamp() OPERATOR(pg_catalog.+) interval '1 day');
  -- It is read when the day is attached, and nobody is to wait for that.
  IF is_used AND pg_catalog.pg_relation_size(pg_catalog.to_regclass(pg_catalog.quote_ident(rest))) > 100000000 THEN
    RETURN 'late';
  END IF;
  EXECUTE pg_catalog.format('CREATE TABLE %I (LIKE %I INCLUDING ALL EXCLUDING IDENTITY)', part, parent);
  PERFORM copy_rights(parent, part);
  -- In the order of whoever analyses the table.
  EXECUTE pg_catalog.format('LOCK TABLE ONLY %I IN %s MODE', parent, CASE WHEN is_used THEN 'ACCESS EXCLUSIVE' ELSE 'SHARE UPDATE EXCLUSIVE' END);
  EXECUTE pg_catalog.format('LOCK TABLE %I IN ACCESS EXCLUSIVE MODE', rest);
  IF NOT is_used THEN
    EXECUTE pg_catalog.format('SELECT EXISTS (SELECT 1 FROM %I WHERE call_uuid >= $1 AND call_uuid < $2)', rest)
      INTO is_used USING low, high;
    IF is_used THEN
      RAISE lock_not_available USING MESSAGE = pg_catalog.format('somebody writes rows of %s now', day);
    END IF;
  END IF;
  EXECUTE pg_catalog.format(
    'WITH late AS (DELETE FROM %I WHERE call_uuid >= $1 AND call_uuid < $2 RETURNING *) INSERT INTO %I SELECT * FROM late', rest, part)
    USING low, high;
  EXECUTE pg_catalog.format('ALTER TABLE %I ATTACH PARTITION %I FOR VALUES FROM (%L) TO (%L)', parent, part, low, high);
  PERFORM rest_without(parent, day, 'allow'::text);
  RETURN 'made';
END
$$;

-- A rest with rows in it would be read under its lock when a day is attached. So it says before that it has none of the day: `refuse`,
-- for new rows; `check`, for all, read beside running writes; `allow` takes it back.
CREATE FUNCTION rest_without(parent text, day date, step text) RETURNS void LANGUAGE plpgsql SECURITY DEFINER AS $$
DECLARE
  rest text;
  word text;
  is_said boolean;
BEGIN
  PERFORM assert_days_of(parent);
  rest := parent || '_rest';
  word := 'without_' || pg_catalog.to_char(day::timestamp, 'YYYYMMDD'::text);
  is_said := EXISTS (SELECT 1 FROM pg_constraint c
    WHERE c.conrelid = pg_catalog.to_regclass(pg_catalog.quote_ident(rest))::oid AND c.conname::text = word);
  IF step = 'refuse' AND NOT is_said THEN
    PERFORM assert_near(day);
    -- Whatever the clock of who asks says.
    IF first_id_of_day(day) < first_id_of(pg_catalog.clock_timestamp() OPERATOR(pg_catalog.+) interval '1 day') THEN
      RAISE invalid_parameter_value USING MESSAGE = pg_catalog.format('%s is too near for its rows to be refused', day);
    END IF;
    EXECUTE pg_catalog.format('ALTER TABLE %I ADD CONSTRAINT %I CHECK (call_uuid < %L OR call_uuid >= %L) NOT VALID', rest, word,
                              first_id_of_day(day), first_id_of_day(day + 1));
  ELSIF step = 'check' THEN
    EXECUTE pg_catalog.format('ALTER TABLE %I VALIDATE CONSTRAINT %I', rest, word);
  ELSIF step = 'allow' AND is_said THEN
    EXECUTE pg_catalog.format('ALTER TABLE %I DROP CONSTRAINT %I', rest, word);
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
  PERFORM assert_read_committed();
  -- Who writes it is waited for; who reads it is not.
  EXECUTE pg_catalog.format('LOCK TABLE %I IN SHARE MODE', name);
  EXECUTE pg_catalog.format('SELECT EXISTS (SELECT 1 FROM %I)', name) INTO is_used;
  IF NOT is_used THEN
    -- DROP would lock it after the whole, behind which everybody waits: so who has the rest is waited for here.
    EXECUTE pg_catalog.format('LOCK TABLE %I IN ACCESS EXCLUSIVE MODE', parent || '_rest');
    -- Last: from here to the commit nobody can use the whole.
    EXECUTE pg_catalog.format('DROP TABLE %I', name);
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
  PERFORM assert_read_committed();
  EXECUTE format('LOCK TABLE %I IN ACCESS EXCLUSIVE MODE', parent);
  -- From the newest on: the oldest may all be dead.
  EXECUTE format('SELECT EXISTS (SELECT 1 FROM (SELECT 1 FROM %I ORDER BY call_uuid DESC LIMIT 1) AS newest)', parent) INTO is_used;
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
  owner text;
  name text;
BEGIN
  IF (SELECT count(DISTINCT relowner) FROM pg_class WHERE oid IN ('call_turns'::regclass, 'call_events'::regclass)) > 1 THEN
    RAISE invalid_parameter_value USING MESSAGE =
      'call_turns and call_events are of two roles, and their days are made by one: give both to one (ALTER TABLE … OWNER TO …), and migrate again.';
  END IF;
  FOR owner IN SELECT DISTINCT pg_get_userbyid(relowner)::text FROM pg_class WHERE oid IN ('call_turns'::regclass, 'call_events'::regclass) LOOP
    IF NOT has_schema_privilege(owner::name, current_schema()::text, 'CREATE') THEN
      RAISE insufficient_privilege USING MESSAGE = format(
        'The role %1$s owns call_turns or call_events and makes their days, but may create no table in the schema %2$s: GRANT CREATE ON SCHEMA %2$I TO %1$I, and migrate again.',
        owner, current_schema());
    END IF;
  END LOOP;
  SELECT pg_get_userbyid(relowner) INTO owner FROM pg_class WHERE oid = 'call_turns'::regclass;
  FOREACH name IN ARRAY ARRAY['wait_for_vacuum(text, text)', 'make_day(text, date)', 'rest_without(text, date, text)', 'drop_day(text)'] LOOP
    EXECUTE format('ALTER FUNCTION %s OWNER TO %I', name, owner);
    -- Before it, without being named, comes pg_catalog. Named, it would be where tables are made.
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
