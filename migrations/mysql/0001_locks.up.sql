-- Rowlock's tables, for MariaDB 10.6 and MySQL 8.0 or later. Run it as it is with any tool.
-- Each statement here commits by itself, so the file can be run again when it was interrupted after any of
-- them; the version is recorded last.
SET SESSION lock_wait_timeout = 5;

-- One row per client process, and one per hold with an explicit ttl. This row alone says who is alive:
-- a hold whose lease is missing is free. Times are UTC.
CREATE TABLE IF NOT EXISTS rowlock_lease (
  id          BINARY(16)      NOT NULL,
  client_id   BINARY(16)      NOT NULL,
  pid         BIGINT          NOT NULL,
  ttl_ms      BIGINT          NOT NULL,
  notice      BIGINT          NOT NULL DEFAULT 0,
  wakes       BIGINT          NOT NULL DEFAULT 0,
  expires_at  DATETIME(6)     NOT NULL,
  created_at  DATETIME(6)     NOT NULL,
  host        VARBINARY(255)  NOT NULL,
  application VARBINARY(1024) NOT NULL,
  PRIMARY KEY (id)
) ENGINE = InnoDB;

-- One row per name. No index but the key: acquire and release are then one change of one row.
CREATE TABLE IF NOT EXISTS rowlock_lock (
  name        VARBINARY(512)  NOT NULL,
  kind        VARBINARY(32)   NOT NULL,
  capacity    BIGINT          NOT NULL,
  in_use      BIGINT          NOT NULL DEFAULT 0,
  token       BIGINT          NOT NULL DEFAULT 0,
  next_ticket BIGINT          NOT NULL DEFAULT 1,
  lease_id    BINARY(16),
  hold_id     BINARY(16),
  has_queue   TINYINT         NOT NULL DEFAULT 0,
  fair        TINYINT         NOT NULL DEFAULT 1,
  delay_ms    BIGINT          NOT NULL DEFAULT 0,
  value       LONGBLOB,
  request_token  BIGINT,
  request_until  DATETIME(6),
  request_reason LONGBLOB,
  guards      BIGINT          NOT NULL DEFAULT 0,
  used_at     DATETIME(6)     NOT NULL,
  PRIMARY KEY (name)
) ENGINE = InnoDB;

-- Shared and counted holds: one row each.
CREATE TABLE IF NOT EXISTS rowlock_permit (
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
-- A waiter looks itself up by its hold; without that key it would read the whole queue.
CREATE TABLE IF NOT EXISTS rowlock_queue (
  name        VARBINARY(512)  NOT NULL,
  ticket      BIGINT          NOT NULL,
  hold_id     BINARY(16)      NOT NULL,
  lease_id    BINARY(16)      NOT NULL,
  weight      BIGINT          NOT NULL DEFAULT 1,
  mode        VARBINARY(32)   NOT NULL DEFAULT 'exclusive',
  PRIMARY KEY (name, ticket),
  UNIQUE KEY rowlock_queue_hold (name, hold_id)
) ENGINE = InnoDB;

-- At most one row, which a restart of the server removes: that is what MEMORY is for here.
CREATE TABLE IF NOT EXISTS rowlock_marker (
  id          INT             NOT NULL,
  value       VARBINARY(64)   NOT NULL,
  PRIMARY KEY (id)
) ENGINE = MEMORY;

-- One row. identity is empty until the first client has recorded the server's.
CREATE TABLE IF NOT EXISTS rowlock_meta (
  id             INT            NOT NULL,
  schema_version INT            NOT NULL,
  min_library    INT            NOT NULL,
  epoch          BIGINT         NOT NULL DEFAULT 0,
  token_floor    BIGINT         NOT NULL DEFAULT 0,
  identity       VARBINARY(255) NOT NULL DEFAULT '',
  PRIMARY KEY (id)
) ENGINE = InnoDB;

INSERT INTO rowlock_meta (id, schema_version, min_library) VALUES (1, 1, 1)
ON DUPLICATE KEY UPDATE schema_version = 1, min_library = 1;

SET SESSION lock_wait_timeout = DEFAULT;
