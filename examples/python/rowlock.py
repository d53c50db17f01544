"""A rowlock client, written from docs/sql-protocol.md: fair mutexes on PostgreSQL, MariaDB, MySQL and SQLite.

    client = rowlock.Client("postgresql://app@db/shop")        # or mysql://user:password@host/database, sqlite:file
    with client.acquire("billing/nightly", wait=30) as hold:   # TimeoutError: busy; hold.token is the fencing token
        client.renew()                                         # at least every third of the ttl; Lost: stop at once
        hold.guard(cursor)  # in a transaction of the program's own: it commits only while the lock is held

A client belongs to one thread. It knows neither clusters nor poolers, and works only on the server that the database
has recorded (`rowlock sweep` records it). After an error of the database the client and its holds are over."""
import contextlib, getpass, os, random, secrets, socket, sys, time
from rowlock_database import Database, Waiter, is_harmless

SCHEMA, NIL = 5, "0" * 32


class Lost(Exception):
    """The hold is over. A transaction that it should have guarded must be rolled back."""


class Again(Exception):
    """Nothing was done: a row was locked, or the leases that are the arguments must be killed first."""


class Hold:
    def __init__(self, client, name):
        self.client, self.name, self.id, self.token, self.requested = client, name, secrets.token_hex(16), None, False

    def guard(self, cursor):
        cursor.execute(self.client.db.sql("{guard}"), (self.name, self.id))
        if not cursor.fetchone():
            raise Lost(self.name)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.client.release(self)


class Client:
    def __init__(self, url, ttl=30.0, application="", prefix="rowlock_"):
        self.db, self.id, self.ttl, self.holds = Database(url, prefix), secrets.token_hex(16), ttl, []
        newest, oldest = self.db.versions()
        if not oldest <= SCHEMA <= newest:
            raise RuntimeError(f"the schema has version {newest}; this client knows {SCHEMA}")
        asked_at, program = self.clock(), os.path.basename(sys.argv[0])
        with self.db.transaction():
            self.db.insert_lease(self.id, int(ttl * 1000), socket.gethostname(), os.getpid(), application,
                                 getpass.getuser(), program)
        self.deadline = asked_at + ttl * 0.999 - 0.1

    def clock(self):
        return time.clock_gettime(time.CLOCK_BOOTTIME)

    def valid(self):
        return self.clock() < self.deadline

    def renew(self):
        asked_at = self.clock()
        if not self.db.renew(self.id) or not self.valid():
            self.close()
            raise Lost("the lease is over")
        self.deadline = asked_at + self.ttl * 0.999 - 0.1
        for hold in self.holds:
            found, hold.requested = self.db.find(hold.name, hold.id, self.id)
            if not found:  # somebody has released it by force
                self.holds.remove(hold)
                raise Lost(hold.name)

    def close(self):
        """Ends the lease, and so all that the client has. This is also the way out of a doubt."""
        self.deadline = 0
        with contextlib.suppress(Exception):
            self.db.end_lease(self.id)
        self.db.connection.close()

    def acquire(self, name, wait=86400.0):
        if not 1 <= len(name.encode()) <= 512 or any(ord(c) < 32 or 127 <= ord(c) < 160 for c in name):
            raise ValueError("a lock's name has 1 to 512 bytes and no control characters")
        hold, until, renew_at = Hold(self, name), time.monotonic() + wait, time.monotonic() + self.ttl / 3
        try:
            while True:
                hold.token, pause = self.edit(name, hold.id, "acquire" if wait > 0 else "try")
                if hold.token:
                    self.renew()  # its commit also makes a grant durable that another client has made
                    self.holds.append(hold)
                    return hold
                if time.monotonic() >= until:
                    raise TimeoutError(f"{name} is busy")
                look, nap = min(time.monotonic() + pause, until, renew_at), 0.002
                while time.monotonic() < look and not self.db.find(name, hold.id, self.id)[0]:
                    time.sleep(nap)
                    nap = min(2 * nap, 0.05)
                if time.monotonic() >= renew_at:
                    self.renew()
                    renew_at = time.monotonic() + self.ttl / 3
        except BaseException:  # an interrupt, too, leaves neither a place in the queue nor a grant
            if self.valid() and (wait > 0 or hold.token):
                self.edit(name, hold.id, "end")
            raise

    def release(self, hold):
        if hold not in self.holds or not self.valid():
            return False
        self.holds.remove(hold)
        return self.edit(hold.name, hold.id, "end")[0] is not None

    def edit(self, name, hold, aim):
        pause = 0.002
        while self.valid():
            try:
                with self.db.transaction():
                    *result, granted = self.decide(name, hold, aim)
                if granted and granted.client != self.id:
                    self.db.run("{wake}", granted.client, granted.hold)
                return result
            except Again as first:
                for lease in first.args:
                    self.db.kill(lease)
                if aim != "end":
                    self.db.create_missing(name)
            except Exception as failure:
                if not is_harmless(failure):
                    self.close()
                    raise
            time.sleep(random.uniform(0, pause))
            pause = min(2 * pause, 0.1)
        raise Lost(name)

    def decide(self, name, me, aim):
        """Grants, queues or ends a request, with the lock's row locked. Returns the token of the request's hold, or
        None; how long to wait until the next look; and the waiter that was granted the lock, or None."""
        lock = self.db.take(name)
        if not lock:
            raise Again()
        if not lock.is_fair_mutex or not lock.is_here:
            raise RuntimeError(f"{name} is not a fair mutex" if lock.is_here else
                               "the database was recorded on another server; `rowlock sweep` records this one")
        lease, holder, token, lines, pause = lock.lease, lock.holder, None, [], 1
        waiting = [one for one in lock.queue if one.left is not None and not (aim == "end" and one.hold == me)]
        if lease and holder == me and lock.left is not None:
            if aim != "end":
                return lock.token, 0, None
            token, lease = lock.token, None
            lines.append(("released", token, me, lock.lease))
        elif lease and lock.left is None and (holder == me or aim != "end"):  # the holder is dead
            lease = None
            if holder != NIL:
                lines.append(("lost", lock.token, holder, lock.lease))
            if holder != NIL and lock.delay_ms:
                lease, holder = f"{holder[:16]}{int(holder[16:], 16) ^ lock.token:016x}", NIL
                self.db.insert_lease(lease, lock.delay_ms, "", 0, "rests after a loss", "", "")
        elif lease and aim != "end":
            if lock.is_due(lock.left, lock.ttl):
                raise Again(lease)
            pause = min(1, (lock.left + lock.skew) / 1000000)
        granted = None
        if not lease and waiting:
            granted = waiting.pop(0)
            if lock.is_due(granted.left, granted.ttl):
                raise Again(granted.lease)
        elif not lease and aim != "end":
            granted = Waiter(None, me, self.id, self.id)
        if granted:
            lease, holder = granted.lease, granted.hold
            lines.append(("granted" if granted.ticket is None else "handed over", lock.next_token, holder, lease))
            token = lock.next_token if holder == me else token
        if aim == "acquire" and holder != me and all(one.hold != me for one in waiting):
            waiting.append(Waiter(lock.next_ticket, me, self.id, self.id))
            lines.append(("queued", 0, me, self.id))
        self.db.write(name, lock, lease, holder, waiting, granted, lines)
        return token, pause, granted
