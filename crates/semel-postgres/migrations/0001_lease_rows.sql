-- Semel's store on PostgreSQL, schema version 1.
--
-- `semel` runs this by itself unless it is told not to. To run it yourself, as the owner of the
-- schema that is to hold it (here `semel`), in one transaction:
--
--   psql -v ON_ERROR_STOP=1 -1 -c 'SET LOCAL search_path = semel, pg_temp' -f 0001_lease_rows.sql
--
-- What the program needs afterwards, as another role (here `app`):
--
--   GRANT USAGE ON SCHEMA semel TO app;
--   GRANT SELECT, INSERT, UPDATE, DELETE ON semel_entry, semel_floor, semel_watch TO app;
--   GRANT SELECT ON semel_schema TO app;
--
-- All times are microseconds since the Unix epoch, by this server's clock.

-- One row: the version of all that follows.
CREATE TABLE semel_schema (
    id integer PRIMARY KEY CHECK (id = 1),
    version integer NOT NULL
);
INSERT INTO semel_schema VALUES (1, 1);

-- A row for each key. A key that was deleted keeps its row, with no value and both ends at 0,
-- until it is swept: it carries the key's last version.
CREATE TABLE semel_entry (
    -- The order of bytes, whatever the database's own is: listings go by it.
    key text COLLATE "C" PRIMARY KEY,
    version bigint NOT NULL,
    lease_at bigint NOT NULL,
    keep_at bigint NOT NULL,
    value bytea
) WITH (
    fillfactor = 85,
    -- Every call is an update or two: clear up after a twentieth of the table, not a fifth.
    autovacuum_vacuum_scale_factor = 0.05,
    autovacuum_analyze_scale_factor = 0.05
);
CREATE INDEX semel_entry_by_end ON semel_entry (keep_at) WHERE value IS NOT NULL;
CREATE INDEX semel_entry_deleted ON semel_entry (version) WHERE value IS NULL;

-- One row: no key whose row is gone ever had a higher version than this.
CREATE TABLE semel_floor (
    id integer PRIMARY KEY CHECK (id = 1),
    version bigint NOT NULL
);
INSERT INTO semel_floor VALUES (1, 0);

-- Keys that somebody waits for, by digest, and until when. A change notifies only for these: a
-- transaction that notifies commits alone, for the length of its commit, in all of PostgreSQL.
-- Lost in a crash without harm, so it is not logged.
CREATE UNLOGGED TABLE semel_watch (
    digest bytea PRIMARY KEY,
    until bigint NOT NULL
);

-- For people: `SELECT * FROM semel_entries`.
CREATE VIEW semel_entries AS
SELECT
    key,
    version,
    to_timestamp(lease_at / 1000000.0) AS lease_ends,
    to_timestamp(keep_at / 1000000.0) AS kept_until,
    octet_length(value) AS bytes
FROM semel_entry
WHERE keep_at > (extract(epoch FROM now()) * 1000000)::bigint;

-- Compares and swaps one entry.
--
-- expect: 0 absent, 1 anything, 2 the version `expected` (none equals a null).
-- next:   0 put, 1 renew (the value stays), 2 delete.
-- lock_ms: how long to wait for a row that another transaction holds. Null inside a transaction
--         of the caller, whose settings are then left alone.
--
-- Each step is a statement of its own and sees all that was committed before it began: after an
-- insert that found a row in its way, the next look sees that row. A swap that loses takes no lock,
-- writes nothing and waits for nobody. Its clock is asked before the look, so that what it tells
-- was true at a moment after the clock's. A swap that wins is applied to just the version it
-- looked at, and the end of a version never moves.
CREATE FUNCTION semel_swap(
    IN wanted text,
    IN digest bytea,
    IN expect integer,
    IN expected bigint,
    IN next integer,
    IN put bytea,
    IN lease bigint,
    IN keep bigint,
    IN lock_ms integer,
    OUT won boolean,
    OUT now_us bigint,
    OUT at_version bigint,
    OUT lease_left bigint,
    OUT keep_left bigint,
    OUT at_value bytea
)
LANGUAGE plpgsql
SET search_path FROM CURRENT
AS $$
DECLARE
    -- Longer than an insert or update takes that waits for nobody.
    patience CONSTANT bigint := 10000;
    row_version bigint;
    row_lease bigint;
    row_keep bigint;
    live boolean;
    watched boolean;
    ignored text;
BEGIN
    IF lock_ms IS NOT NULL THEN
        ignored := set_config('lock_timeout', lock_ms::text, true);
        IF next <> 0 THEN
            -- A renewal or a release that a crash of the server undoes costs time and no promise.
            ignored := set_config('synchronous_commit', 'off', true);
        END IF;
    END IF;
    IF next = 0 AND current_setting('synchronous_commit') = 'off' THEN
        -- What is acknowledged is kept, whatever the database's default.
        ignored := set_config('synchronous_commit', 'on', true);
    END IF;
    lease := least(lease, keep);

    LOOP
        now_us := (extract(epoch FROM clock_timestamp()) * 1000000)::bigint;
        SELECT e.version, e.lease_at, e.keep_at, e.value
        INTO row_version, row_lease, row_keep, at_value
        FROM semel_entry AS e WHERE e.key = wanted;
        live := FOUND AND row_keep > now_us;

        IF (next <> 0 AND NOT live)
            OR (expect = 0 AND live)
            OR (expect = 2 AND (NOT live OR row_version IS DISTINCT FROM expected))
        THEN
            won := false;
            IF live THEN
                at_version := row_version;
                lease_left := greatest(row_lease - now_us, 0);
                keep_left := row_keep - now_us;
            ELSE
                -- An earlier look may have set them.
                at_version := NULL;
                at_value := NULL;
            END IF;
            RETURN;
        END IF;

        IF row_version IS NULL THEN
            at_version := now_us;
            INSERT INTO semel_entry AS e
            VALUES (wanted, at_version, now_us + lease, now_us + keep, put)
            ON CONFLICT (key) DO NOTHING;
            -- Somebody was faster: look again.
            CONTINUE WHEN NOT FOUND;
            -- The row is ours. Only now nobody can raise the floor over this key any more.
            SELECT greatest(f.version + 1, at_version),
                EXISTS (SELECT FROM semel_watch AS w WHERE w.digest = semel_swap.digest)
            INTO row_version, watched
            FROM semel_floor AS f WHERE f.id = 1;
            EXIT;
        END IF;

        at_version := greatest(row_version + 1, now_us);
        UPDATE semel_entry AS e
        SET version = at_version,
            lease_at = CASE WHEN next = 2 THEN 0 ELSE now_us + lease END,
            keep_at = CASE WHEN next = 2 THEN 0 ELSE now_us + keep END,
            value = CASE next WHEN 0 THEN put WHEN 1 THEN e.value END
        WHERE e.key = wanted AND e.version = row_version;
        CONTINUE WHEN NOT FOUND;
        SELECT EXISTS (SELECT FROM semel_watch AS w WHERE w.digest = semel_swap.digest)
        INTO watched;
        EXIT;
    END LOOP;

    -- The write may have waited for another transaction, that then undid what it did: the clock
    -- is asked again, now that the row is ours.
    IF (extract(epoch FROM clock_timestamp()) * 1000000)::bigint - now_us > patience
        OR row_version > at_version
    THEN
        now_us := (extract(epoch FROM clock_timestamp()) * 1000000)::bigint;
        IF live AND row_keep <= now_us THEN
            RAISE EXCEPTION 'the entry ended while a transaction held it'
            USING ERRCODE = 'serialization_failure';
        END IF;
        at_version := greatest(row_version, at_version, now_us);
        UPDATE semel_entry AS e
        SET version = at_version,
            lease_at = CASE WHEN next = 2 THEN 0 ELSE now_us + lease END,
            keep_at = CASE WHEN next = 2 THEN 0 ELSE now_us + keep END
        WHERE e.key = wanted;
    END IF;

    won := true;
    at_value := NULL;
    IF watched THEN
        ignored := pg_notify('semel_changed', encode(digest, 'hex'));
    END IF;
END
$$;

-- A swap inside a transaction of the caller, whose settings are as before afterwards. It waits at
-- most `lock_ms` for another transaction that holds the row; if that is not enough it is `busy`,
-- and the transaction can go on.
CREATE FUNCTION semel_swap_in(
    IN wanted text,
    IN digest bytea,
    IN expect integer,
    IN expected bigint,
    IN next integer,
    IN put bytea,
    IN lease bigint,
    IN keep bigint,
    IN lock_ms integer,
    OUT won boolean,
    OUT now_us bigint,
    OUT at_version bigint,
    OUT lease_left bigint,
    OUT keep_left bigint,
    OUT at_value bytea,
    OUT busy boolean
)
LANGUAGE plpgsql
SET search_path FROM CURRENT
AS $$
DECLARE
    before CONSTANT text := current_setting('lock_timeout');
    ignored text;
BEGIN
    busy := false;
    ignored := set_config('lock_timeout', lock_ms::text, true);
    BEGIN
        SELECT s.won, s.now_us, s.at_version, s.lease_left, s.keep_left, s.at_value
        INTO won, now_us, at_version, lease_left, keep_left, at_value
        FROM semel_swap(wanted, digest, expect, expected, next, put, lease, keep, NULL) AS s;
    EXCEPTION WHEN lock_not_available THEN
        busy := true;
    END;
    ignored := set_config('lock_timeout', before, true);
END
$$;

-- What became of a key that a transaction had claimed whose end is not known: it waits until that
-- transaction has ended, and reads then.
CREATE FUNCTION semel_settle(
    IN wanted text,
    IN lock_ms integer,
    OUT now_us bigint,
    OUT at_version bigint,
    OUT lease_left bigint,
    OUT keep_left bigint,
    OUT at_value bytea
)
LANGUAGE plpgsql
SET search_path FROM CURRENT
AS $$
DECLARE
    ignored text;
BEGIN
    ignored := set_config('lock_timeout', lock_ms::text, true);
    ignored := set_config('synchronous_commit', 'off', true);
    -- Waits for whoever inserts, changes or deletes the row.
    INSERT INTO semel_entry AS e VALUES (wanted, 0, 0, 0, NULL) ON CONFLICT (key) DO NOTHING;
    IF FOUND THEN
        DELETE FROM semel_entry AS e WHERE e.key = wanted;
    END IF;
    now_us := (extract(epoch FROM clock_timestamp()) * 1000000)::bigint;
    SELECT e.version, greatest(e.lease_at - now_us, 0), e.keep_at - now_us, e.value
    INTO at_version, lease_left, keep_left, at_value
    FROM semel_entry AS e WHERE e.key = wanted AND e.keep_at > now_us;
END
$$;

-- Reads one entry and sets its lease to end `lease` from now, unless that has ended; never past
-- its keep.
CREATE FUNCTION semel_touch(
    IN wanted text,
    IN lease bigint,
    IN lock_ms integer,
    OUT now_us bigint,
    OUT at_version bigint,
    OUT lease_left bigint,
    OUT keep_left bigint,
    OUT at_value bytea
)
LANGUAGE plpgsql
SET search_path FROM CURRENT
AS $$
DECLARE
    row_version bigint;
    row_lease bigint;
    row_keep bigint;
    lease_at_new bigint;
    ignored text;
BEGIN
    ignored := set_config('lock_timeout', lock_ms::text, true);
    -- A lease that a crash of the server does not lengthen ends early, and nothing else.
    ignored := set_config('synchronous_commit', 'off', true);
    now_us := (extract(epoch FROM clock_timestamp()) * 1000000)::bigint;
    SELECT e.version, e.lease_at, e.keep_at, e.value
    INTO row_version, row_lease, row_keep, at_value
    FROM semel_entry AS e WHERE e.key = wanted;
    IF FOUND AND row_lease > now_us THEN
        SELECT e.version, e.lease_at, e.keep_at, e.value
        INTO row_version, row_lease, row_keep, at_value
        FROM semel_entry AS e WHERE e.key = wanted FOR NO KEY UPDATE;
        now_us := (extract(epoch FROM clock_timestamp()) * 1000000)::bigint;
        lease_at_new := least(now_us + lease, row_keep);
        IF row_lease > now_us AND row_lease <> lease_at_new THEN
            row_lease := lease_at_new;
            UPDATE semel_entry AS e SET lease_at = row_lease WHERE e.key = wanted;
        END IF;
    END IF;
    IF row_keep > now_us THEN
        at_version := row_version;
        lease_left := greatest(row_lease - now_us, 0);
        keep_left := row_keep - now_us;
    ELSE
        at_value := NULL;
    END IF;
END
$$;

-- Removes at most `most_ended` rows past their keep, the longest past first, and at most
-- `most_deleted` of deleted keys. What another transaction holds is passed over.
CREATE FUNCTION semel_sweep(
    IN most_ended bigint,
    IN most_deleted bigint,
    OUT ended bigint,
    OUT deleted bigint
)
LANGUAGE plpgsql
SET search_path FROM CURRENT
AS $$
DECLARE
    now_us CONSTANT bigint := (extract(epoch FROM clock_timestamp()) * 1000000)::bigint;
    ended_version bigint;
    deleted_version bigint;
    ignored text;
BEGIN
    ignored := set_config('synchronous_commit', 'off', true);
    WITH past AS MATERIALIZED (
        SELECT e.key FROM semel_entry AS e
        WHERE e.value IS NOT NULL AND e.keep_at <= now_us
        ORDER BY e.keep_at LIMIT most_ended
        FOR UPDATE SKIP LOCKED
    ), gone AS (
        DELETE FROM semel_entry AS e USING past WHERE e.key = past.key RETURNING e.version
    )
    SELECT count(*), max(version) INTO ended, ended_version FROM gone;
    WITH past AS MATERIALIZED (
        SELECT e.key FROM semel_entry AS e
        WHERE e.value IS NULL
        ORDER BY e.version LIMIT most_deleted
        FOR UPDATE SKIP LOCKED
    ), gone AS (
        DELETE FROM semel_entry AS e USING past WHERE e.key = past.key RETURNING e.version
    )
    SELECT count(*), max(version) INTO deleted, deleted_version FROM gone;
    -- In the same transaction: whoever finds the row gone finds the floor raised.
    UPDATE semel_floor AS f
    SET version = greatest(ended_version, deleted_version)
    WHERE f.version < greatest(ended_version, deleted_version);
    DELETE FROM semel_watch AS w
    WHERE w.digest IN (SELECT digest FROM semel_watch WHERE until < now_us LIMIT most_deleted);
END
$$;
