-- Rowlock's tables. Run it as it is with any tool: alone, or inside a transaction of the tool's.
-- It can be run again when it was interrupted between two statements.
SET lock_timeout = '5s';

-- One row per client process, and one per hold with an explicit ttl. This row alone says who is alive:
-- a hold whose lease is missing is free. Renewed in place, so there is no index but the key.
CREATE TABLE IF NOT EXISTS rowlock_lease (
  id          uuid        NOT NULL,
  client_id   uuid        NOT NULL,
  pid         bigint      NOT NULL,
  ttl_ms      bigint      NOT NULL,
  notice      bigint      NOT NULL DEFAULT 0,
  expires_at  timestamptz NOT NULL,
  created_at  timestamptz NOT NULL DEFAULT clock_timestamp(),
  host        text        NOT NULL,
  application text        NOT NULL,
  PRIMARY KEY (id)
) WITH (
  fillfactor = 50,
  autovacuum_vacuum_scale_factor = 0.2,
  autovacuum_vacuum_threshold = 500,
  autovacuum_vacuum_cost_delay = 0
);

-- One row per name. Acquire and release are one HOT update each: half of every page is left free for the
-- new versions, and no column that they write may ever be indexed.
CREATE TABLE IF NOT EXISTS rowlock_lock (
  name        text COLLATE "C" NOT NULL,
  kind        text        NOT NULL,
  capacity    bigint      NOT NULL,
  in_use      bigint      NOT NULL DEFAULT 0,
  token       bigint      NOT NULL DEFAULT 0,
  next_ticket bigint      NOT NULL DEFAULT 1,
  lease_id    uuid,
  hold_id     uuid,
  has_queue   boolean     NOT NULL DEFAULT false,
  fair        boolean     NOT NULL DEFAULT true,
  delay_ms    bigint      NOT NULL DEFAULT 0,
  value       text,
  request_token  bigint,
  request_until  timestamptz,
  request_reason text,
  used_at     timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (name)
) WITH (
  fillfactor = 50,
  autovacuum_vacuum_scale_factor = 0.1,
  autovacuum_vacuum_threshold = 1000,
  autovacuum_vacuum_cost_delay = 0
);

-- Shared and counted holds: one row each.
CREATE TABLE IF NOT EXISTS rowlock_permit (
  name        text COLLATE "C" NOT NULL,
  hold_id     uuid        NOT NULL,
  lease_id    uuid        NOT NULL,
  weight      bigint      NOT NULL,
  token       bigint      NOT NULL,
  granted_at  timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (name, hold_id)
) WITH (
  autovacuum_vacuum_scale_factor = 0.1,
  autovacuum_vacuum_threshold = 1000,
  autovacuum_vacuum_cost_delay = 0
);

-- Waiters in ticket order. Changed only by whoever holds the row of the lock.
CREATE TABLE IF NOT EXISTS rowlock_queue (
  name        text COLLATE "C" NOT NULL,
  ticket      bigint      NOT NULL,
  hold_id     uuid        NOT NULL,
  lease_id    uuid        NOT NULL,
  weight      bigint      NOT NULL DEFAULT 1,
  mode        text        NOT NULL DEFAULT 'exclusive',
  PRIMARY KEY (name, ticket)
) WITH (
  autovacuum_vacuum_scale_factor = 0.1,
  autovacuum_vacuum_threshold = 1000,
  autovacuum_vacuum_cost_delay = 0
);

-- A waiter looks itself up by its hold; without this it would read the whole queue.
CREATE UNIQUE INDEX IF NOT EXISTS rowlock_queue_hold ON rowlock_queue (name, hold_id);

-- One row. identity is empty until the first client has recorded the server's.
CREATE TABLE IF NOT EXISTS rowlock_meta (
  id             integer NOT NULL DEFAULT 1 CHECK (id = 1),
  schema_version integer NOT NULL,
  min_library    integer NOT NULL,
  epoch          bigint  NOT NULL DEFAULT 0,
  token_floor    bigint  NOT NULL DEFAULT 0,
  identity       text    NOT NULL DEFAULT '',
  PRIMARY KEY (id)
) WITH (fillfactor = 50);

-- At most one row, which a crash or a promotion removes: that is what UNLOGGED is for here.
CREATE UNLOGGED TABLE IF NOT EXISTS rowlock_marker (
  id    integer NOT NULL DEFAULT 1 CHECK (id = 1),
  value text    NOT NULL,
  PRIMARY KEY (id)
);

RESET lock_timeout;

INSERT INTO rowlock_meta (id, schema_version, min_library) VALUES (1, 1, 1)
ON CONFLICT (id) DO UPDATE SET schema_version = 1, min_library = 1;
