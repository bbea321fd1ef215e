-- The figures of a team's machines. Each machine writes its own rows, through the functions below and no other way.
-- Tokens throughout; NULL is unknown.

CREATE SCHEMA IF NOT EXISTS ctxls;
SET LOCAL search_path = ctxls;

-- Roles belong to the whole cluster, so another database may have made them.
DO $$
DECLARE r text;
BEGIN
  FOREACH r IN ARRAY ARRAY['ctxls_pusher', 'ctxls_reader', 'ctxls_writer'] LOOP
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = r) THEN
      EXECUTE format('CREATE ROLE %I NOLOGIN', r);
    END IF;
  END LOOP;
  IF NOT pg_has_role(current_user, 'ctxls_writer', 'MEMBER') THEN
    EXECUTE format('GRANT ctxls_writer TO %I', current_user);
  END IF;
END $$;

-- keep_from is where retention begins: older rows were dropped, and are not taken again.
CREATE TABLE settings (
  one       boolean PRIMARY KEY DEFAULT true CHECK (one),
  keep_from timestamptz NOT NULL DEFAULT '-infinity'
);
INSERT INTO settings DEFAULT VALUES;

CREATE TABLE machines (
  id              integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  machine         uuid NOT NULL UNIQUE,
  owner           name NOT NULL DEFAULT session_user, -- the login that may write its rows
  team            text NOT NULL,
  version         text NOT NULL,              -- of ctxls-fleet
  claim           uuid NOT NULL,              -- of the pusher that speaks for it
  cursor          bigint NOT NULL DEFAULT 0,  -- the revision of its store that is copied
  sessions_made   integer NOT NULL DEFAULT 0,
  trim_operations bigint NOT NULL DEFAULT 0,
  trimmed_tokens  bigint NOT NULL DEFAULT 0,
  created_at      timestamptz NOT NULL DEFAULT clock_timestamp(),
  pushed_at       timestamptz NOT NULL DEFAULT clock_timestamp()
) WITH (fillfactor = 50);

-- What is searched and drawn stands in columns; usage has all figures, as in the protocol's session/get.
CREATE TABLE sessions (
  machine           integer NOT NULL REFERENCES machines ON DELETE CASCADE,
  no                integer NOT NULL,
  session           text NOT NULL,
  host              text NOT NULL,
  provider          text NOT NULL,
  model             text NOT NULL,
  project           text NOT NULL,
  tokens            integer,
  window_tokens     integer NOT NULL,
  compaction_tokens integer,
  to_compaction     integer,
  level             text,
  compactions       integer NOT NULL,
  compacting        boolean NOT NULL,
  gone              boolean NOT NULL, -- its host's process
  seq               bigint NOT NULL,  -- of the next sample
  started_ms        bigint NOT NULL,  -- as sent: another instant is another session
  started_at        timestamptz,
  updated_at        timestamptz,
  ended_at          timestamptz,
  usage             jsonb NOT NULL,
  PRIMARY KEY (machine, no),
  UNIQUE (machine, session)
) WITH (fillfactor = 50);

CREATE TABLE samples (
  at            timestamptz NOT NULL,
  machine       integer NOT NULL,
  session       integer NOT NULL, -- sessions.no
  seq           integer NOT NULL,
  tokens        integer NOT NULL,
  window_tokens integer NOT NULL,
  kind          "char" NOT NULL CHECK (kind IN ('u', 'e', 'c')) -- usage, estimate, compaction
) PARTITION BY RANGE (at);
-- No key holds doubles off, the cursor does: a key would be as large as the rows, where PostgreSQL keeps this index in some bytes a row.
CREATE INDEX samples_of_session ON samples (machine, session);

CREATE TABLE tasks (
  at      timestamptz NOT NULL,
  machine integer NOT NULL,
  seq     bigint NOT NULL,
  tokens  integer NOT NULL,
  host    text NOT NULL,
  model   text NOT NULL,
  project text NOT NULL,
  PRIMARY KEY (machine, seq, at)
) PARTITION BY RANGE (at);

CREATE TABLE compactions (
  at            timestamptz NOT NULL,
  machine       integer NOT NULL,
  session       integer NOT NULL,
  seq           integer NOT NULL,
  tokens        integer NOT NULL, -- after it
  window_tokens integer NOT NULL,
  PRIMARY KEY (machine, session, seq)
);
CREATE INDEX compactions_by_time ON compactions (at);

-- Row security. A reader sees everything. The functions run as ctxls_writer, which sees and writes the rows of one machine: the
-- one that claim and push found to belong to the login.
CREATE FUNCTION this_machine() RETURNS integer LANGUAGE sql STABLE
  AS $$ SELECT nullif(current_setting('ctxls.machine', true), '')::integer $$;
ALTER TABLE settings ENABLE ROW LEVEL SECURITY;
ALTER TABLE machines ENABLE ROW LEVEL SECURITY;
CREATE POLICY read ON settings FOR SELECT TO ctxls_reader, ctxls_writer USING (true);
CREATE POLICY read ON machines FOR SELECT TO ctxls_reader USING (true);
CREATE POLICY own ON machines TO ctxls_writer USING (owner = session_user) WITH CHECK (owner = session_user);
DO $$
DECLARE t text;
BEGIN
  FOREACH t IN ARRAY ARRAY['sessions', 'samples', 'tasks', 'compactions'] LOOP
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', t);
    EXECUTE format('CREATE POLICY read ON %I FOR SELECT TO ctxls_reader USING (true)', t);
    EXECUTE format('CREATE POLICY own ON %I TO ctxls_writer USING (machine = (SELECT ctxls.this_machine())) WITH CHECK (machine = ctxls.this_machine())', t);
  END LOOP;
END $$;
GRANT USAGE ON SCHEMA ctxls TO ctxls_pusher, ctxls_reader, ctxls_writer;
GRANT SELECT ON settings, machines, sessions, samples, tasks, compactions TO ctxls_reader;
GRANT SELECT ON settings TO ctxls_writer;
GRANT SELECT, INSERT, UPDATE, DELETE ON machines, sessions, samples, tasks, compactions TO ctxls_writer;

-- instant returns an instant from milliseconds since 1970; 0 is none.
CREATE FUNCTION instant(ms bigint) RETURNS timestamptz LANGUAGE sql IMMUTABLE
  AS $$ SELECT CASE WHEN ms <> 0 THEN timestamptz 'epoch' + ms * interval '1 millisecond' END $$;

-- add_day makes the partitions of a day of UTC. It runs as the owner of the tables. To attach a table does not disturb those who
-- write meanwhile.
CREATE FUNCTION add_day(day date) RETURNS void LANGUAGE plpgsql SECURITY DEFINER SET search_path = ctxls, pg_temp AS $$
DECLARE
  t text;
  partition text;
BEGIN
  PERFORM pg_advisory_xact_lock(hashtext('ctxls.add_day'));
  FOREACH t IN ARRAY ARRAY['samples', 'tasks'] LOOP
    partition := t || to_char(day, '"_"YYYYMMDD');
    IF to_regclass('ctxls.' || partition) IS NULL THEN
      EXECUTE format('CREATE TABLE ctxls.%I (LIKE ctxls.%I INCLUDING ALL)', partition, t);
      EXECUTE format('ALTER TABLE ctxls.%I ATTACH PARTITION ctxls.%I FOR VALUES FROM (%L) TO (%L)', t, partition,
        day || ' 00:00+00', day + 1 || ' 00:00+00');
    END IF;
  END LOOP;
END $$;

-- check_clock refuses a machine whose clock is far off: its figures would stand at the wrong time.
CREATE FUNCTION check_clock(now_ms bigint) RETURNS void LANGUAGE plpgsql AS $$
DECLARE off interval := ctxls.instant(now_ms) - clock_timestamp();
BEGIN
  IF abs(extract(epoch FROM off)) > 300 THEN
    RAISE EXCEPTION USING ERRCODE = 'CX002', MESSAGE = date_trunc('second', off)::text;
  END IF;
END $$;

-- claim makes the caller the pusher of a machine, and returns its cursor.
CREATE FUNCTION claim(p jsonb) RETURNS jsonb LANGUAGE plpgsql SECURITY DEFINER SET search_path = ctxls, pg_temp AS $$
DECLARE
  m machines;
BEGIN
  PERFORM set_config('synchronous_commit', 'on', true); -- a claim that was granted outlives a crash
  PERFORM check_clock((p->>'now')::bigint);
  SELECT * INTO m FROM machines WHERE machine = (p->>'machine')::uuid FOR UPDATE;
  IF NOT FOUND THEN
    BEGIN
      INSERT INTO machines (machine, team, version, claim) VALUES ((p->>'machine')::uuid, p->>'team', p->>'version', (p->>'next')::uuid)
        RETURNING * INTO m;
    EXCEPTION WHEN unique_violation THEN -- it is there, and row security hides it
      RAISE EXCEPTION USING ERRCODE = 'CX003', MESSAGE = 'another login';
    END;
  ELSIF NOT (p->'known' ? m.claim::text) AND NOT coalesce((p->>'takeOver')::boolean, false) THEN
    RAISE EXCEPTION USING ERRCODE = 'CX001', MESSAGE = to_char(m.pushed_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"');
  ELSE
    UPDATE machines SET claim = (p->>'next')::uuid, team = p->>'team', version = p->>'version' WHERE id = m.id;
  END IF;
  PERFORM set_config('ctxls.machine', m.id::text, true);
  RETURN jsonb_build_object('revision', m.cursor, 'sessions', coalesce(
    (SELECT jsonb_object_agg(s.session, jsonb_build_object('started', s.started_ms, 'seq', s.seq)) FROM sessions s WHERE s.machine = m.id), '{}'));
END $$;

-- push takes one batch. The cursor moves in the same transaction.
CREATE FUNCTION push(p jsonb) RETURNS void LANGUAGE plpgsql SECURITY DEFINER SET search_path = ctxls, pg_temp AS $$
DECLARE
  m machines;
  made integer;
  floor timestamptz;
  ceiling timestamptz := clock_timestamp() + interval '1 day';
  day text;
BEGIN
  PERFORM check_clock((p->>'now')::bigint);
  -- What a crash takes is sent again: it takes the cursor with it. Who vanishes between two batches holds the machine's row no longer than this.
  PERFORM set_config('synchronous_commit', 'off', true), set_config('idle_in_transaction_session_timeout', '30s', true);
  SELECT * INTO m FROM machines WHERE machine = (p->>'machine')::uuid FOR UPDATE;
  IF NOT FOUND OR m.claim <> (p->>'claim')::uuid THEN
    RAISE EXCEPTION USING ERRCODE = 'CX001', MESSAGE = to_char(m.pushed_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"');
  ELSIF m.cursor <> (p->>'since')::bigint THEN
    RAISE EXCEPTION USING ERRCODE = 'CX004', MESSAGE = 'lost cursor';
  END IF;
  PERFORM set_config('ctxls.machine', m.id::text, true);

  IF (p->>'whole')::boolean THEN
    DELETE FROM samples WHERE machine = m.id;
    DELETE FROM compactions WHERE machine = m.id;
    DELETE FROM sessions WHERE machine = m.id;
  ELSIF p ? 'removed' THEN
    DELETE FROM samples WHERE machine = m.id AND session IN
      (SELECT no FROM sessions WHERE machine = m.id AND session IN (SELECT jsonb_array_elements_text(p->'removed')));
    DELETE FROM compactions WHERE machine = m.id AND session IN
      (SELECT no FROM sessions WHERE machine = m.id AND session IN (SELECT jsonb_array_elements_text(p->'removed')));
    DELETE FROM sessions WHERE machine = m.id AND session IN (SELECT jsonb_array_elements_text(p->'removed'));
  END IF;

  made := m.sessions_made;
  IF p ? 'sessions' THEN
    UPDATE sessions t SET provider = s.provider, model = s.model, project = s.project, tokens = s.tokens, window_tokens = s.window,
        compaction_tokens = s.compaction, to_compaction = s."left", level = s.level, compactions = s.compactions, compacting = s.compacting,
        gone = s.gone, seq = s.seq, updated_at = instant(s.updated), ended_at = instant(s.ended), usage = s.usage
      FROM jsonb_to_recordset(p->'sessions') AS s (session text, provider text, model text, project text, tokens integer, "window" integer,
        compaction integer, "left" integer, level text, compactions integer, compacting boolean, gone boolean, seq bigint, updated bigint, ended bigint, usage jsonb)
      WHERE t.machine = m.id AND t.session = s.session;
    INSERT INTO sessions (machine, no, session, host, provider, model, project, tokens, window_tokens, compaction_tokens, to_compaction, level,
        compactions, compacting, gone, seq, started_ms, started_at, updated_at, ended_at, usage)
      SELECT m.id, made + row_number() OVER (), s.session, s.host, s.provider, s.model, s.project, s.tokens, s.window, s.compaction, s."left", s.level,
        s.compactions, s.compacting, s.gone, s.seq, s.started, instant(s.started), instant(s.updated), instant(s.ended), s.usage
      FROM jsonb_to_recordset(p->'sessions') AS s (session text, host text, provider text, model text, project text, tokens integer, "window" integer,
        compaction integer, "left" integer, level text, compactions integer, compacting boolean, gone boolean, seq bigint, started bigint, updated bigint, ended bigint, usage jsonb)
      WHERE NOT EXISTS (SELECT FROM sessions t WHERE t.machine = m.id AND t.session = s.session);
    GET DIAGNOSTICS made = ROW_COUNT;
    made := m.sessions_made + made;
  END IF;

  IF p ? 'days' THEN
    SELECT greatest(keep_from, clock_timestamp() - interval '400 days') INTO floor FROM settings;
    FOR day IN SELECT jsonb_array_elements_text(p->'days') LOOP
      IF to_regclass('ctxls.tasks_' || day) IS NULL AND day::date + 1 > floor AND day::date < ceiling THEN
        PERFORM add_day(day::date);
      END IF;
    END LOOP;
    IF p ? 'samples' THEN
      INSERT INTO samples (at, machine, session, seq, tokens, window_tokens, kind)
        SELECT instant(x.a), m.id, s.no, x.q, x.t, x.w, left(x.k, 1)::"char"
        FROM jsonb_to_recordset(p->'samples') AS x (s text, q integer, a bigint, t integer, w integer, k text)
        JOIN sessions s ON s.machine = m.id AND s.session = x.s
        WHERE instant(x.a) >= floor AND instant(x.a) < ceiling;
      INSERT INTO compactions (at, machine, session, seq, tokens, window_tokens)
        SELECT instant(x.a), m.id, s.no, x.q, x.t, x.w
        FROM jsonb_to_recordset(p->'samples') AS x (s text, q integer, a bigint, t integer, w integer, k text)
        JOIN sessions s ON s.machine = m.id AND s.session = x.s
        WHERE x.k = 'compaction' AND instant(x.a) >= floor AND instant(x.a) < ceiling
        ON CONFLICT DO NOTHING;
    END IF;
    IF p ? 'tasks' THEN
      INSERT INTO tasks AS t (at, machine, seq, tokens, host, model, project)
        SELECT instant(x.a), m.id, x.q, x.t, x.h, x.m, x.p
        FROM jsonb_to_recordset(p->'tasks') AS x (q bigint, a bigint, t integer, h text, m text, p text)
        WHERE instant(x.a) >= floor AND instant(x.a) < ceiling
        ON CONFLICT (machine, seq, at) DO UPDATE SET tokens = excluded.tokens WHERE t.tokens <> excluded.tokens;
    END IF;
  END IF;

  UPDATE machines SET cursor = CASE (p->>'revision')::bigint WHEN 0 THEN cursor ELSE (p->>'revision')::bigint END, sessions_made = made,
    trim_operations = coalesce((p->'trims'->>'operations')::bigint, trim_operations),
    trimmed_tokens = coalesce((p->'trims'->>'tokens')::bigint, trimmed_tokens), pushed_at = clock_timestamp() WHERE id = m.id;
END $$;

GRANT CREATE ON SCHEMA ctxls TO ctxls_writer;
ALTER FUNCTION claim(jsonb) OWNER TO ctxls_writer;
ALTER FUNCTION push(jsonb) OWNER TO ctxls_writer;
REVOKE CREATE ON SCHEMA ctxls FROM ctxls_writer;
REVOKE ALL ON FUNCTION add_day(date), claim(jsonb), push(jsonb) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION add_day(date) TO ctxls_writer;
GRANT EXECUTE ON FUNCTION claim(jsonb), push(jsonb) TO ctxls_pusher;
