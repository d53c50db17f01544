-- The schema that the migrations of migrations/mysql leave behind, version 2. For reading; a test compares.
-- Times are UTC; ids are 16 bytes.
-- rowlock_migration, the ledger, is made by rowlock's own migrator and absent where another tool migrates.

-- One row per client process, and one per hold with an explicit ttl. This row alone says who is alive:
-- a hold whose lease is missing is free.
CREATE TABLE rowlock_lease (
  id          BINARY(16)      NOT NULL,
  client_id   BINARY(16)      NOT NULL,  -- the process's own lease; itself, for that one
  pid         BIGINT          NOT NULL,
  ttl_ms      BIGINT          NOT NULL,
  notice      BIGINT          NOT NULL DEFAULT 0,  -- rises when the client must check its holds
  wakes       BIGINT          NOT NULL DEFAULT 0,  -- rises when one of the client's waiters was granted
  expires_at  DATETIME(6)     NOT NULL,
  created_at  DATETIME(6)     NOT NULL,
  host        VARBINARY(255)  NOT NULL,
  application VARBINARY(1024) NOT NULL,
  PRIMARY KEY (id)
) ENGINE = InnoDB;

-- One row per name. No index but the key.
CREATE TABLE rowlock_lock (
  name        VARBINARY(512)  NOT NULL,
  kind        VARBINARY(32)   NOT NULL,
  capacity    BIGINT          NOT NULL,
  in_use      BIGINT          NOT NULL DEFAULT 0,
  token       BIGINT          NOT NULL DEFAULT 0,  -- of the latest grant
  next_ticket BIGINT          NOT NULL DEFAULT 1,
  lease_id    BINARY(16),
  hold_id     BINARY(16),
  has_queue   TINYINT         NOT NULL DEFAULT 0,
  fair        TINYINT         NOT NULL DEFAULT 1,  -- requests never overtake those who wait
  delay_ms    BIGINT          NOT NULL DEFAULT 0,  -- how long it rests after its holder was lost
  value       LONGBLOB,  -- an election's
  request_token  BIGINT,  -- holds up to this token are asked to release, until then
  request_until  DATETIME(6),
  request_reason LONGBLOB,
  guards      BIGINT          NOT NULL DEFAULT 0,  -- Galera certifies only what is written: a guard counts here
  used_at     DATETIME(6)     NOT NULL,  -- the latest acquire
  head_ticket BIGINT          NOT NULL DEFAULT 0,  -- no row of its queue has a smaller ticket
  PRIMARY KEY (name)
) ENGINE = InnoDB;

-- Shared and counted holds: one row each.
CREATE TABLE rowlock_permit (
  name        VARBINARY(512)  NOT NULL,
  hold_id     BINARY(16)      NOT NULL,
  lease_id    BINARY(16)      NOT NULL,
  weight      BIGINT          NOT NULL,
  token       BIGINT          NOT NULL,
  guards      BIGINT          NOT NULL DEFAULT 0,
  granted_at  DATETIME(6)     NOT NULL,
  PRIMARY KEY (name, hold_id)
) ENGINE = InnoDB;

-- Waiters in ticket order. Changed only by whoever holds the row of the lock.
CREATE TABLE rowlock_queue (
  name        VARBINARY(512)  NOT NULL,
  ticket      BIGINT          NOT NULL,
  hold_id     BINARY(16)      NOT NULL,
  lease_id    BINARY(16)      NOT NULL,
  weight      BIGINT          NOT NULL DEFAULT 1,
  mode        VARBINARY(32)   NOT NULL DEFAULT 'exclusive',
  PRIMARY KEY (name, ticket),
  UNIQUE KEY rowlock_queue_hold (name, hold_id)
) ENGINE = InnoDB;

-- At most one row, which a restart of the server removes.
CREATE TABLE rowlock_marker (
  id          INT             NOT NULL,
  value       VARBINARY(64)   NOT NULL,
  PRIMARY KEY (id)
) ENGINE = MEMORY;

-- One row.
CREATE TABLE rowlock_meta (
  id             INT            NOT NULL,
  schema_version INT            NOT NULL,
  min_library    INT            NOT NULL,  -- a library that knows only a lower schema version must not run
  epoch          BIGINT         NOT NULL DEFAULT 0,  -- of libraries of version 1: in steps of 64 seconds
  token_floor    BIGINT         NOT NULL DEFAULT 0,  -- no collected name had a token above it
  identity       VARBINARY(255) NOT NULL DEFAULT '',  -- of the server, or of its Galera cluster
  epoch_s        BIGINT         NOT NULL DEFAULT 0,  -- in seconds since 2026-01-01
  -- of tokens
  epoch_floor    BIGINT         GENERATED ALWAYS AS (GREATEST(epoch_s * 2097152, epoch * 134217728)) STORED,
  skew_ms        BIGINT         NOT NULL DEFAULT 0,  -- how much later than its expiry a lease may be killed
  cluster_seen   BIGINT         NOT NULL DEFAULT 0,  -- when this server was recorded, in seconds since 1970
  PRIMARY KEY (id)
) ENGINE = InnoDB;
