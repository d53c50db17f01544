-- The schema that the migrations of migrations/sqlite leave behind, version 5. Each column has a line of its own, with
-- the type as the database names it: `rowlock migrate verify` compares the two. Tests compare the file with the
-- migrations.
-- Times are microseconds since 1970 UTC; ids are 32 hexadecimal digits.
-- rowlock's own migrator makes rowlock_migration, the ledger; where another tool migrates, that table is absent.

-- WITHOUT ROWID: each row is found, read and written in one b-tree instead of two.
CREATE TABLE rowlock_lease (
  id          TEXT    NOT NULL PRIMARY KEY,
  client_id   TEXT    NOT NULL,
  host        TEXT    NOT NULL,
  pid         INTEGER NOT NULL,
  application TEXT    NOT NULL,
  ttl_ms      INTEGER NOT NULL,
  expires_at  INTEGER NOT NULL,
  notice      INTEGER NOT NULL DEFAULT 0,
  created_at  INTEGER NOT NULL,
  username    TEXT    NOT NULL DEFAULT '',  -- the user of the process
  program     TEXT    NOT NULL DEFAULT ''  -- what the process runs, without arguments
) WITHOUT ROWID;

CREATE TABLE rowlock_lock (
  name        TEXT    NOT NULL PRIMARY KEY,
  kind        TEXT    NOT NULL,
  capacity    INTEGER NOT NULL,
  in_use      INTEGER NOT NULL DEFAULT 0,
  token       INTEGER NOT NULL,
  next_ticket INTEGER NOT NULL DEFAULT 1,
  lease_id    TEXT,
  hold_id     TEXT,
  has_queue   INTEGER NOT NULL DEFAULT 0,
  fair        INTEGER NOT NULL DEFAULT 1,
  delay_ms    INTEGER NOT NULL DEFAULT 0,
  value       TEXT,
  request_token  INTEGER,
  request_until  INTEGER,
  request_reason TEXT,
  used_at     INTEGER NOT NULL
) WITHOUT ROWID;

CREATE TABLE rowlock_permit (
  name        TEXT    NOT NULL,
  hold_id     TEXT    NOT NULL,
  lease_id    TEXT    NOT NULL,
  weight      INTEGER NOT NULL,
  token       INTEGER NOT NULL,
  granted_at  INTEGER NOT NULL,
  data        TEXT,  -- the hold's data
  PRIMARY KEY (name, hold_id)
) WITHOUT ROWID;

CREATE TABLE rowlock_queue (
  name        TEXT    NOT NULL,
  ticket      INTEGER NOT NULL,
  hold_id     TEXT    NOT NULL,
  lease_id    TEXT    NOT NULL,
  weight      INTEGER NOT NULL DEFAULT 1,
  mode        TEXT    NOT NULL DEFAULT 'exclusive',
  PRIMARY KEY (name, ticket)
) WITHOUT ROWID;

-- A waiter finds its row by its hold; without this index it would read the whole queue.
CREATE UNIQUE INDEX rowlock_queue_hold ON rowlock_queue (name, hold_id);

CREATE TABLE rowlock_marker (
  id          INTEGER NOT NULL PRIMARY KEY CHECK (id = 1),
  value       TEXT    NOT NULL
);

CREATE TABLE rowlock_meta (
  id             INTEGER NOT NULL PRIMARY KEY CHECK (id = 1),
  schema_version INTEGER NOT NULL,
  min_library    INTEGER NOT NULL,
  epoch          INTEGER NOT NULL DEFAULT 0,  -- for libraries of version 1: in steps of 64 seconds
  token_floor    INTEGER NOT NULL DEFAULT 0,
  identity       TEXT    NOT NULL DEFAULT '',
  epoch_s        INTEGER NOT NULL DEFAULT 0,  -- in seconds since 2026-01-01
  epoch_floor    INTEGER GENERATED ALWAYS AS (max(epoch_s * 2097152, epoch * 134217728)) STORED,  -- of tokens
  skew_ms        INTEGER NOT NULL DEFAULT 0,  -- how much later than its expiry a lease may be killed
  recordings     INTEGER NOT NULL DEFAULT 0  -- rises when what rowlock_recording says changes
);

-- Which names have a history. Clients read it when meta.recordings has changed.
CREATE TABLE rowlock_recording (
  pattern TEXT    NOT NULL PRIMARY KEY,  -- a name, or the beginning of names and a *
  keep    INTEGER NOT NULL,              -- so many of the latest lines of a name
  age_h   INTEGER NOT NULL               -- and none that are older, in hours
) WITHOUT ROWID;

-- What happened to those names. Written by the transaction of the change.
CREATE TABLE rowlock_history (
  name        TEXT    NOT NULL,
  id          INTEGER NOT NULL,  -- rises for each name
  happened_at INTEGER NOT NULL,
  event       TEXT    NOT NULL,
  token       INTEGER NOT NULL,
  hold_id     TEXT    NOT NULL,
  lease_id    TEXT    NOT NULL,
  detail      TEXT    NOT NULL,
  host        TEXT    NOT NULL,  -- as the lease said; '' if it was gone
  username    TEXT    NOT NULL,
  pid         INTEGER NOT NULL,
  application TEXT    NOT NULL,
  program     TEXT    NOT NULL,
  PRIMARY KEY (name, id)
) WITHOUT ROWID;
