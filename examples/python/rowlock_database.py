"""The statements of rowlock.py, and what differs between the databases: how to connect, and words of the dialects."""
import collections, contextlib, getpass, os, socket, sqlite3, subprocess, sys, time
from urllib.parse import unquote, urlsplit

SCHEMA = 5  # the version that is known here
NIL = "0" * 32  # the hold of a lock that rests
# After these errors nothing is in doubt: deadlocks, locked rows, a busy file.
HARMLESS = {"40001", "40P01", "55P03", 1020, 1205, 1213, "database is locked"}
NOW = "(CAST(round((julianday('now') - 2440587.5) * 86400000.0) AS INTEGER) * 1000)"  # microseconds since 1970
WORDS = {  # for PostgreSQL, for MariaDB and MySQL, for SQLite
    "begin": ("BEGIN", "BEGIN", "BEGIN IMMEDIATE"),
    "lock": ("FOR UPDATE", "FOR UPDATE", ""),
    "skip": ("SKIP LOCKED", "SKIP LOCKED", ""),
    "share": ("FOR SHARE", "LOCK IN SHARE MODE", ""),
    "ignore": ("ON CONFLICT DO NOTHING", "ON DUPLICATE KEY UPDATE capacity = 1", "ON CONFLICT DO NOTHING"),
    "id": ("%s::uuid", "UNHEX(%s)", "%s"),
    "now": ("clock_timestamp()", "SYSDATE(6)", NOW),
    "ttl": ("ttl_ms * interval '1 millisecond'", "INTERVAL ttl_ms * 1000 MICROSECOND", "ttl_ms * 1000"),
    # microseconds until a lease expires
    "left": ("(extract(epoch FROM expires_at - clock_timestamp()) * 1000000)::bigint",
             "TIMESTAMPDIFF(MICROSECOND, SYSDATE(6), expires_at)", f"expires_at - {NOW}"),
    # microseconds since 2026
    "clock": ("(extract(epoch FROM clock_timestamp() - timestamptz '2026-01-01 00:00:00+00') * 1000000)::bigint",
              "TIMESTAMPDIFF(MICROSECOND, '2026-01-01', SYSDATE(6))", f"{NOW} - 1767225600000000"),
    "epoch_floor": ("epoch_floor", "GREATEST(epoch_floor, epoch * 134217728)", "epoch_floor"),
    # the identity of the server that executes the statement
    "server": ("(SELECT system_identifier FROM pg_control_system()) || '/' || "
               "left(pg_walfile_name(pg_current_wal_lsn()), 8)",
               "IF(CONCAT(@@GLOBAL.read_only) IN ('0', 'OFF'), LEFT(CONCAT(/*!80000 'mysql/', @@server_uuid */ "
               "/*M! 'mariadb/', @@hostname, ':', @@port, '/', @@server_id, '/', @@datadir */), 255), NULL)",
               None),  # Database says it
    "wake": ("SELECT pg_notify('rowlock_' || %s, %s)",
             "UPDATE rowlock_lease SET wakes = wakes + 1 WHERE id = UNHEX(%s) AND %s <> ''", "SELECT %s, %s"),
    "guard": ("SELECT 1 FROM rowlock_lock WHERE name = %s AND hold_id = %s::uuid FOR KEY SHARE",
              "SELECT 1 FROM rowlock_lock AS l WHERE l.name = %s AND l.hold_id = UNHEX(%s) AND EXISTS (SELECT 1 "
              "FROM rowlock_lock AS s WHERE s.name = l.name AND s.hold_id = l.hold_id) LOCK IN SHARE MODE",
              f"UPDATE rowlock_lease SET expires_at = iif(expires_at > {NOW}, {NOW} + ttl_ms * 1000, expires_at) "
              "WHERE id = (SELECT lease_id FROM rowlock_lock WHERE name = %s AND hold_id = %s) RETURNING 1"),
}

SECOND = 1 << 21  # how many tokens are one second
Waiter = collections.namedtuple("Waiter", "ticket hold lease client left ttl", defaults=(0, 0))
LOCK = "lease holder token next_ticket delay_ms is_fair_mutex is_here skew next_token left ttl queue"


class Lock(collections.namedtuple("Lock", LOCK)):
    """What an edit decides from: the row, the server, the holder's lease and the queue. Times are microseconds."""

    def check(self, name):
        if not self.is_fair_mutex:
            raise RuntimeError(f"{name} is not a fair mutex")
        if not self.is_here:
            raise RuntimeError("the database was recorded on another server; `rowlock sweep` records this one")


class Again(TimeoutError):
    """Nothing was done, and nothing is in doubt. A transaction that raises it calls remove(obstacle) after its end."""

    def __init__(self, remove=None, obstacle=None):
        super().__init__("others keep a row or the file locked")
        self.remove, self.obstacle = remove, obstacle


class Database:
    """A connection. In its statements, words in braces stand for WORDS, and %s for a parameter. After a failure of the
    driver, which is in `errors`, all is over; after Again, a part may be repeated."""

    def __init__(self, url, prefix):
        kind, _, self.file = url.partition(":")
        self.dialect, self.prefix, self.files = {"sqlite": 2, "mysql": 1, "mariadb": 1}.get(kind, 0), prefix, None
        self.words = {word: texts[self.dialect] for word, texts in WORDS.items()}
        (self.connect_postgres, self.connect_mysql, self.connect_sqlite)[self.dialect](url)
        ((newest, oldest),) = self.run("SELECT schema_version, min_library FROM rowlock_meta")
        if not oldest <= SCHEMA <= newest:
            raise RuntimeError(f"the schema has version {newest}; this client knows {SCHEMA}")

    def connect_postgres(self, url):
        import psycopg2
        self.errors = psycopg2.Error
        self.connection = psycopg2.connect(url)
        self.connection.set_session(isolation_level="READ COMMITTED", readonly=False, autocommit=True)
        self.run("SET synchronous_commit = on; SET client_encoding = 'UTF8'; SET row_security = off; "
                 "SET statement_timeout = 9000; SET idle_in_transaction_session_timeout = 9000")

    def connect_mysql(self, url):
        import pymysql
        self.errors = pymysql.Error
        at, found_rows = urlsplit(url), 2
        self.connection = pymysql.connect(
            host=at.hostname, port=at.port or 3306, user=unquote(at.username), password=unquote(at.password or ""),
            database=at.path[1:], autocommit=True, charset="utf8mb4", client_flag=found_rows, read_timeout=9)
        self.run("SET time_zone = '+00:00', completion_type = 'NO_CHAIN', sql_mode = 'STRICT_ALL_TABLES', "
                 "sql_safe_updates = 0, innodb_lock_wait_timeout = 1")
        self.run("SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED, READ WRITE")

    def connect_sqlite(self, url):
        self.errors = sqlite3.Error, OSError
        self.connection = sqlite3.connect(self.file, isolation_level=None, timeout=1)
        self.run("PRAGMA synchronous = FULL")
        self.run("SELECT count(*) FROM rowlock_meta")  # opens the -wal and the -shm
        stat = subprocess.run(["stat", "-Lc", "%.9W", self.file], check=True, stdout=subprocess.PIPE)
        status, birth = os.stat(self.file), stat.stdout.decode().strip()
        self.words["server"] = f"'{status.st_dev:x}:{status.st_ino:x}:{birth}'"
        self.files = self.inodes()

    def inodes(self):
        return [os.stat(self.file + end).st_ino for end in ("", "-wal", "-shm")]

    def sql(self, text):
        text = text.format_map(self.words).replace("rowlock_", self.prefix)
        return text.replace("%s", "?") if self.dialect == 2 else text

    def run(self, text, *arguments):
        """Returns the rows, with ids as hexadecimal digits, or how many rows were changed."""
        cursor = self.connection.cursor()
        try:
            cursor.execute(self.sql(text), arguments)
            rows = cursor.fetchall() if cursor.description else []
        except self.errors as failure:
            if (getattr(failure, "pgcode", None) or (failure.args or [None])[0]) in HARMLESS:
                raise Again from failure
            raise
        if not cursor.description:
            return cursor.rowcount
        names = [column[0] for column in cursor.description]
        return [[as_text(value, name.endswith("_id")) for value, name in zip(row, names)] for row in rows]

    @contextlib.contextmanager
    def transaction(self):
        self.run("{begin}")
        self.to_wake = None
        try:
            if self.files and self.inodes() != self.files:
                raise OSError("the database's file, its -wal or its -shm was replaced")
            yield
            self.run("COMMIT")
        except BaseException as failure:
            self.run("ROLLBACK")
            if isinstance(failure, Again) and failure.remove:
                failure.remove(failure.obstacle)
            raise
        if self.to_wake:
            with contextlib.suppress(Again):  # a wake-up is a hint
                self.run("{wake}", self.to_wake.client, self.to_wake.hold)

    def close(self):
        with contextlib.suppress(Exception):
            self.connection.close()

    def create_lease(self, id, ttl_ms, application):
        """The first transaction of this connection. On SQLite the log may have been deleted with the latest tokens
        while nobody had it open, so the floor is raised above them."""
        with self.transaction():
            if self.files:
                self.run("UPDATE rowlock_meta SET token_floor = max(token_floor, %s) WHERE epoch_floor > 0",
                         self.a_minute_ago())
            self.insert_lease(id, ttl_ms, socket.gethostname(), os.getpid(), application, getpass.getuser(),
                              os.path.basename(sys.argv[0]))

    def insert_rest(self, lock):
        """Inserts the lease of a lock that rests after the loss of its hold, and returns its id."""
        lease = f"{lock.holder[:16]}{int(lock.holder[16:], 16) ^ lock.token:016x}"
        self.insert_lease(lease, lock.delay_ms, "", 0, "rests after a loss", "", "")
        return lease

    def insert_lease(self, id, ttl_ms, *who):
        self.run("INSERT INTO rowlock_lease (id, client_id, ttl_ms, host, pid, application, username, program, "
                 "created_at, expires_at) VALUES ({id}, {id}, %s, %s, %s, %s, %s, %s, {now}, {now})",
                 id, id, ttl_ms, *who)
        self.run("UPDATE rowlock_lease SET expires_at = {now} + {ttl} WHERE id = {id}", id)

    def renew(self, lease):
        with self.transaction():
            self.run("SELECT 1 FROM rowlock_lease WHERE id = {id} {lock}", lease)
            return self.run("UPDATE rowlock_lease SET expires_at = {now} + {ttl} "
                            "WHERE id = {id} AND expires_at > {now}", lease) == 1

    def end_lease(self, lease):
        with self.transaction():
            self.run("DELETE FROM rowlock_lease WHERE id = {id}", lease)

    def kill(self, lease):
        with self.transaction():
            if not self.run("SELECT 1 FROM rowlock_lease WHERE id = {id} {lock} {skip}", lease):
                return
            ((left, ttl, here, skew),) = self.run("SELECT {left}, ttl_ms * 1000, identity = {server}, skew_ms * 1000 "
                                                  "FROM rowlock_lease AS l, rowlock_meta AS m WHERE l.id = {id}", lease)
            if here and left + skew <= 0:
                self.run("DELETE FROM rowlock_lease WHERE id = {id}", lease)
            elif here and left > ttl + skew:
                self.run("UPDATE rowlock_lease SET expires_at = {now} + {ttl} WHERE id = {id}", lease)

    def require_alive(self, lease, left, ttl, skew):
        """Returns in how many seconds the lease may be killed. If it may be now, because it has expired, or because the
        database's clock was set back, it is killed, and Again is raised."""
        if left + skew <= 0 or left > ttl + skew:
            raise Again(self.kill, lease)
        return (left + skew) / 1000000

    def find(self, name, hold, lease):
        """Returns whether the hold stands, and whether somebody has requested its release."""
        rows = self.run("SELECT request_token >= token FROM rowlock_lock "
                        "WHERE name = %s AND hold_id = {id} AND lease_id = {id}", name, hold, lease)
        return bool(rows), bool(rows and rows[0][0])

    def poll(self, name, hold, lease, wait):
        """Returns when the hold stands, or after that many seconds."""
        until, nap = time.monotonic() + wait, 0.002
        while time.monotonic() < until and not self.find(name, hold, lease)[0]:
            time.sleep(nap)
            nap = min(2 * nap, 0.05)

    def a_minute_ago(self):
        """The token of the database's clock, minus a minute."""
        return self.run("SELECT {clock}")[0][0] * SECOND // 1000000 - 60 * SECOND

    def create(self, name):
        with self.transaction():
            (floors,) = self.run("SELECT {epoch_floor}, token_floor FROM rowlock_meta WHERE id = 1 {share}")
            self.run("INSERT INTO rowlock_lock (name, kind, capacity, token, used_at) "
                     "VALUES (%s, 'mutex', 1, %s, {now}) {ignore}", name, max(*floors, self.a_minute_ago()))

    def take(self, name, creates):
        """Locks the row and reads the rest. None: there is no row, and none is created. Again: it is locked."""
        rows = self.run("SELECT lease_id, hold_id, token, next_ticket, delay_ms, kind = 'mutex' AND capacity = 1 "
                        "AND fair FROM rowlock_lock WHERE name = %s {lock} {skip}", name)
        if not rows and self.run("SELECT 1 FROM rowlock_lock WHERE name = %s", name):
            raise Again
        if not rows and creates:
            raise Again(self.create, name)
        if not rows:
            return None
        ((here, skew, *floors),) = self.run(
            "SELECT identity = {server}, skew_ms * 1000, {epoch_floor}, token_floor FROM rowlock_meta WHERE id = 1")
        lease = self.run("SELECT {left}, ttl_ms * 1000 FROM rowlock_lease WHERE id = {id}", rows[0][0])
        queue = [Waiter(*row) for row in self.run(
            "SELECT ticket, q.hold_id, q.lease_id, client_id, {left}, ttl_ms * 1000 FROM rowlock_queue AS q "
            "LEFT JOIN rowlock_lease AS l ON l.id = q.lease_id WHERE q.name = %s ORDER BY ticket", name)]
        next_token = max(rows[0][2] + 1, *floors)
        return Lock(*rows[0], here, skew, next_token, *(lease[0] if lease else (None, None)), queue)

    def write(self, name, lock, lease, holder, waiting, granted):
        """Writes what has changed, if anything has: the lock's row, its queue, and the history of a recorded name."""
        lines = []
        if lock.lease and lock.holder not in (holder if lease else None, NIL):
            lines.append(("lost" if lock.left is None else "released", lock.token, lock.holder, lock.lease))
        for one in lock.queue:
            if one not in waiting:
                self.run("DELETE FROM rowlock_queue WHERE name = %s AND ticket = %s", name, one.ticket)
                lines += [("left the queue", 0, one.hold, one.lease)] if one != granted else []
        if granted:
            self.to_wake = granted if granted.ticket else None
            lines.append(("handed over" if granted.ticket else "granted", lock.next_token, holder, lease))
        for one in waiting:
            if one not in lock.queue:
                self.run("INSERT INTO rowlock_queue (name, ticket, hold_id, lease_id) VALUES (%s, %s, {id}, {id})",
                         name, one.ticket, one.hold, one.lease)
                lines.append(("queued", 0, one.hold, one.lease))
        if lines:
            ticket = lock.next_ticket + any(one.ticket == lock.next_ticket for one in waiting)
            self.run("UPDATE rowlock_lock SET used_at = CASE WHEN token < %s THEN {now} ELSE used_at END, "
                     "token = %s, lease_id = {id}, hold_id = {id}, in_use = %s, next_ticket = %s, has_queue = %s "
                     "WHERE name = %s", *[lock.next_token if granted else lock.token] * 2,
                     lease, lease and holder, 1 if lease else 0, ticket, bool(waiting), name)
            self.record(name, lines)

    def record(self, name, lines):
        """Writes lines into the history of a name that is recorded."""
        patterns = [row[0] for row in self.run("SELECT pattern FROM rowlock_recording")]
        if not any(name == one or one[-1] == "*" and name.startswith(one[:-1]) for one in patterns):
            return
        for event, token, hold, lease in lines:
            self.run("INSERT INTO rowlock_history (name, id, happened_at, event, token, hold_id, lease_id, detail, "
                     "host, username, pid, application, program) "
                     "SELECT %s, COALESCE((SELECT MAX(o.id) FROM rowlock_history AS o WHERE o.name = %s), 0) + 1, "
                     "{now}, %s, %s, {id}, {id}, '', COALESCE(l.host, ''), COALESCE(l.username, ''), "
                     "COALESCE(l.pid, 0), "
                     "COALESCE(l.application, ''), COALESCE(l.program, '') "
                     "FROM (SELECT 1) AS one LEFT JOIN rowlock_lease AS l ON l.id = {id}",
                     name, name, event, token, hold, lease, lease)


def as_text(value, is_id):
    if isinstance(value, bytes):
        return value.hex() if is_id else value.decode()
    return value.replace("-", "") if is_id and value else value


def check_name(name):
    if not 1 <= len(name.encode()) <= 512 or any(ord(c) < 32 or 127 <= ord(c) < 160 for c in name):
        raise ValueError("a lock's name has 1 to 512 bytes and no control characters")
