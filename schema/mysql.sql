-- The schema that the migrations of migrations/mysql leave behind, version 5. Each column has a line of its own, with
-- the type as the database names it: `rowlock migrate verify` compares the two. Tests compare the file with the
-- migrations.
-- Times are UTC; ids are 16 bytes.
-- rowlock's own migrator makes rowlock_migration, the ledger; where another tool migrates, that table is absent.

-- One row per client process, and one per hold with an explicit ttl. This row alone says who is alive:
-- a hold whose lease is missing is free.
CREATE TABLE rowlock_lease (
  id          binary(16)      NOT NULL,
  client_id   binary(16)      NOT NULL,  -- the lease of the client process; for that lease, its own id
  pid         bigint          NOT NULL,
  ttl_ms      bigint          NOT NULL,
  notice      bigint          NOT NULL DEFAULT 0,  -- rises when the client must check its holds
  wakes       bigint          NOT NULL DEFAULT 0,  -- rises when one of the client's waiters was granted
  expires_at  datetime(6)     NOT NULL,
  created_at  datetime(6)     NOT NULL,
  host        varbinary(255)  NOT NULL,
  application varbinary(1024) NOT NULL,
  username    varbinary(255)  NOT NULL DEFAULT '',  -- the user of the process
  program     varbinary(255)  NOT NULL DEFAULT '',  -- what the process runs, without arguments
  PRIMARY KEY (id)
) ENGINE = InnoDB;

-- One row per name. The table has no index except the key.
CREATE TABLE rowlock_lock (
  name        varbinary(512)  NOT NULL,
  kind        varbinary(32)   NOT NULL,
  capacity    bigint          NOT NULL,
  in_use      bigint          NOT NULL DEFAULT 0,
  token       bigint          NOT NULL DEFAULT 0,  -- of the latest grant
  next_ticket bigint          NOT NULL DEFAULT 1,
  lease_id    binary(16),
  hold_id     binary(16),
  has_queue   tinyint         NOT NULL DEFAULT 0,
  fair        tinyint         NOT NULL DEFAULT 1,  -- requests never overtake waiters
  delay_ms    bigint          NOT NULL DEFAULT 0,  -- how long the lock rests after its holder was lost
  value       longblob,  -- the token of an exclusive hold, and its data
  request_token  bigint,  -- holds up to this token are asked to release, until request_until
  request_until  datetime(6),
  request_reason longblob,
  guards      bigint          NOT NULL DEFAULT 0,  -- a guard raises it: Galera detects conflicts only between writes
  used_at     datetime(6)     NOT NULL,  -- the latest acquire
  head_ticket bigint          NOT NULL DEFAULT 0,  -- no row of its queue has a smaller ticket
  PRIMARY KEY (name)
) ENGINE = InnoDB;

-- Shared and counted holds: one row each.
CREATE TABLE rowlock_permit (
  name        varbinary(512)  NOT NULL,
  hold_id     binary(16)      NOT NULL,
  lease_id    binary(16)      NOT NULL,
  weight      bigint          NOT NULL,
  token       bigint          NOT NULL,
  guards      bigint          NOT NULL DEFAULT 0,
  granted_at  datetime(6)     NOT NULL,
  data        longblob,  -- the hold's data
  PRIMARY KEY (name, hold_id)
) ENGINE = InnoDB;

-- Waiters in ticket order. Only a transaction that has locked the row of the lock changes its queue.
CREATE TABLE rowlock_queue (
  name        varbinary(512)  NOT NULL,
  ticket      bigint          NOT NULL,
  hold_id     binary(16)      NOT NULL,
  lease_id    binary(16)      NOT NULL,
  weight      bigint          NOT NULL DEFAULT 1,
  mode        varbinary(32)   NOT NULL DEFAULT 'exclusive',
  PRIMARY KEY (name, ticket),
  UNIQUE KEY rowlock_queue_hold (name, hold_id)
) ENGINE = InnoDB;

-- At most one row. On MariaDB a restart of the server removes it; on MySQL the table is of the engine InnoDB, and
-- clients ask when the server was started.
CREATE TABLE rowlock_marker (
  id          int             NOT NULL,
  value       varbinary(64)   NOT NULL,
  PRIMARY KEY (id)
) ENGINE = MEMORY;

-- Exactly one row.
CREATE TABLE rowlock_meta (
  id             int            NOT NULL,
  schema_version int            NOT NULL,
  min_library    int            NOT NULL,  -- a library that knows only a lower schema version must not run
  epoch          bigint         NOT NULL DEFAULT 0,  -- for libraries of version 1: in steps of 64 seconds
  token_floor    bigint         NOT NULL DEFAULT 0,  -- no collected name had a token above it
  identity       varbinary(255) NOT NULL DEFAULT '',  -- of the server, or of its Galera cluster
  epoch_s        bigint         NOT NULL DEFAULT 0,  -- in seconds since 2026-01-01
  epoch_floor    bigint         NOT NULL DEFAULT 0,  -- the floor of tokens; at least epoch * 134217728
  skew_ms        bigint         NOT NULL DEFAULT 0,  -- how much later than its expiry a lease may be killed
  cluster_seen   bigint         NOT NULL DEFAULT 0,  -- when this server was recorded, in seconds since 1970
  recordings     bigint         NOT NULL DEFAULT 0,  -- rises when a row of rowlock_recording changes
  PRIMARY KEY (id)
) ENGINE = InnoDB;

-- Which names have a history. Clients read it when meta.recordings has changed.
CREATE TABLE rowlock_recording (
  pattern varbinary(512) NOT NULL,  -- a name, or the beginning of names and a *
  keep    bigint         NOT NULL,  -- how many of the latest lines of a name are kept
  age_h   bigint         NOT NULL,  -- lines that are older, in hours, are deleted
  PRIMARY KEY (pattern)
) ENGINE = InnoDB;

-- What happened to the recorded names. The transaction of the change writes it, while the lock's row is locked.
CREATE TABLE rowlock_history (
  name        varbinary(512)  NOT NULL,
  id          bigint          NOT NULL,  -- rises for each name
  happened_at datetime(6)     NOT NULL,
  event       varbinary(32)   NOT NULL,
  token       bigint          NOT NULL,
  hold_id     binary(16)      NOT NULL,
  lease_id    binary(16)      NOT NULL,
  detail      varbinary(1024) NOT NULL,
  host        varbinary(255)  NOT NULL,  -- as the lease said; '' if it was gone
  username    varbinary(255)  NOT NULL,
  pid         bigint          NOT NULL,
  application varbinary(1024) NOT NULL,
  program     varbinary(255)  NOT NULL,
  PRIMARY KEY (name, id)
) ENGINE = InnoDB;
