-- Made at 20261123143000.
-- For operators: whose process a lease is of and what it runs, and the history of the names that are recorded. Libraries
-- of earlier versions work beside it: they leave the new columns empty, and record nothing.
-- It can be run again when it was interrupted between two statements.
SET lock_timeout = '5s';

-- No row of a table is rewritten.
ALTER TABLE rowlock_lease
  ADD COLUMN IF NOT EXISTS username text NOT NULL DEFAULT '',
  ADD COLUMN IF NOT EXISTS program text NOT NULL DEFAULT '';

ALTER TABLE rowlock_meta
  ADD COLUMN IF NOT EXISTS recordings bigint NOT NULL DEFAULT 0;

CREATE TABLE IF NOT EXISTS rowlock_recording (
  pattern text COLLATE "C" NOT NULL,
  keep    bigint NOT NULL,
  age_h   bigint NOT NULL,
  PRIMARY KEY (pattern)
);

CREATE TABLE IF NOT EXISTS rowlock_history (
  name        text COLLATE "C" NOT NULL,
  id          bigint      NOT NULL,
  happened_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  event       text        NOT NULL,
  token       bigint      NOT NULL,
  hold_id     uuid        NOT NULL,
  lease_id    uuid        NOT NULL,
  detail      text        NOT NULL,
  host        text        NOT NULL,
  username    text        NOT NULL,
  pid         bigint      NOT NULL,
  application text        NOT NULL,
  program     text        NOT NULL,
  PRIMARY KEY (name, id)
);

RESET lock_timeout;

UPDATE rowlock_meta SET schema_version = 3 WHERE id = 1;
