-- The schema that the migrations of migrations/postgres leave behind, version 5. Each column has a line of its own,
-- with the type as the database names it: `rowlock migrate verify` compares the two. Tests compare the file with the
-- migrations.
-- rowlock's own migrator makes rowlock_migration, the ledger; where another tool migrates, that table is absent.

-- One row per client process, and one per hold with an explicit ttl. This row alone says who is alive:
-- a hold whose lease is missing is free.
CREATE TABLE rowlock_lease (
  id          uuid        NOT NULL,
  client_id   uuid        NOT NULL,  -- the lease of the client process; for that lease, its own id
  pid         bigint      NOT NULL,
  ttl_ms      bigint      NOT NULL,
  notice      bigint      NOT NULL DEFAULT 0,  -- rises when the client must check its holds
  expires_at  timestamp with time zone NOT NULL,
  created_at  timestamp with time zone NOT NULL DEFAULT clock_timestamp(),
  host        text        NOT NULL,
  application text        NOT NULL,
  username    text        NOT NULL DEFAULT '',  -- the user of the process
  program     text        NOT NULL DEFAULT '',  -- what the process runs, without arguments
  PRIMARY KEY (id)
) WITH (
  fillfactor = 50,
  autovacuum_vacuum_scale_factor = 0.2,
  autovacuum_vacuum_threshold = 500,
  autovacuum_vacuum_cost_delay = 0
);

-- One row per name. Acquire and release are one HOT update each: no column that they write may ever be indexed.
CREATE TABLE rowlock_lock (
  name        text COLLATE "C" NOT NULL,
  kind        text        NOT NULL,
  capacity    bigint      NOT NULL,
  in_use      bigint      NOT NULL DEFAULT 0,
  token       bigint      NOT NULL DEFAULT 0,  -- of the latest grant
  next_ticket bigint      NOT NULL DEFAULT 1,
  lease_id    uuid,
  hold_id     uuid,
  has_queue   boolean     NOT NULL DEFAULT false,
  fair        boolean     NOT NULL DEFAULT true,  -- requests never overtake waiters
  delay_ms    bigint      NOT NULL DEFAULT 0,  -- how long the lock rests after its holder was lost
  value       text,  -- the token of an exclusive hold, and its data
  request_token  bigint,  -- holds up to this token are asked to release, until request_until
  request_until  timestamp with time zone,
  request_reason text,
  used_at     timestamp with time zone NOT NULL DEFAULT clock_timestamp(),  -- the latest acquire
  head_ticket bigint      NOT NULL DEFAULT 0,  -- no row of its queue has a smaller ticket
  PRIMARY KEY (name)
) WITH (
  fillfactor = 50,
  autovacuum_vacuum_scale_factor = 0.1,
  autovacuum_vacuum_threshold = 1000,
  autovacuum_vacuum_cost_delay = 0
);

-- Shared and counted holds: one row each.
CREATE TABLE rowlock_permit (
  name        text COLLATE "C" NOT NULL,
  hold_id     uuid        NOT NULL,
  lease_id    uuid        NOT NULL,
  weight      bigint      NOT NULL,
  token       bigint      NOT NULL,
  granted_at  timestamp with time zone NOT NULL DEFAULT clock_timestamp(),
  data        text,  -- the hold's data
  PRIMARY KEY (name, hold_id)
) WITH (
  autovacuum_vacuum_scale_factor = 0.1,
  autovacuum_vacuum_threshold = 1000,
  autovacuum_vacuum_cost_delay = 0
);

-- Waiters in ticket order. Only a transaction that has locked the row of the lock changes its queue.
CREATE TABLE rowlock_queue (
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

-- A waiter finds its row by its hold.
CREATE UNIQUE INDEX rowlock_queue_hold ON rowlock_queue (name, hold_id);

-- Exactly one row.
CREATE TABLE rowlock_meta (
  id             integer NOT NULL DEFAULT 1 CHECK (id = 1),
  schema_version integer NOT NULL,
  min_library    integer NOT NULL,  -- a library that knows only a lower schema version must not run
  epoch          bigint  NOT NULL DEFAULT 0,  -- for libraries of version 1: in steps of 64 seconds
  token_floor    bigint  NOT NULL DEFAULT 0,  -- no collected name had a token above it
  identity       text    NOT NULL DEFAULT '',  -- system identifier and timeline of the server
  epoch_s        bigint  NOT NULL DEFAULT 0,  -- in seconds since 2026-01-01
  epoch_floor    bigint  GENERATED ALWAYS AS (greatest(epoch_s * 2097152, epoch * 134217728)) STORED,  -- the floor of tokens
  skew_ms        bigint  NOT NULL DEFAULT 0,  -- how much later than its expiry a lease may be killed
  recordings     bigint  NOT NULL DEFAULT 0,  -- rises when a row of rowlock_recording changes
  PRIMARY KEY (id)
) WITH (fillfactor = 50);

-- At most one row, which a crash or a promotion removes.
CREATE UNLOGGED TABLE rowlock_marker (
  id    integer NOT NULL DEFAULT 1 CHECK (id = 1),
  value text    NOT NULL,
  PRIMARY KEY (id)
);

-- Which names have a history. Clients read it when meta.recordings has changed.
CREATE TABLE rowlock_recording (
  pattern text COLLATE "C" NOT NULL,  -- a name, or the beginning of names and a *
  keep    bigint NOT NULL,            -- how many of the latest lines of a name are kept
  age_h   bigint NOT NULL,            -- lines that are older, in hours, are deleted
  PRIMARY KEY (pattern)
);

-- What happened to the recorded names. The transaction of the change writes it, while the lock's row is locked.
CREATE TABLE rowlock_history (
  name        text COLLATE "C" NOT NULL,
  id          bigint      NOT NULL,  -- rises for each name
  happened_at timestamp with time zone NOT NULL DEFAULT clock_timestamp(),
  event       text        NOT NULL,
  token       bigint      NOT NULL,
  hold_id     uuid        NOT NULL,
  lease_id    uuid        NOT NULL,
  detail      text        NOT NULL,
  host        text        NOT NULL,  -- as the lease said; '' if it was gone
  username    text        NOT NULL,
  pid         bigint      NOT NULL,
  application text        NOT NULL,
  program     text        NOT NULL,
  PRIMARY KEY (name, id)
);
