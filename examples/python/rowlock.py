"""A rowlock client, written from docs/sql-protocol.md: fair mutexes on PostgreSQL, MariaDB, MySQL and SQLite.

    client = rowlock.Client("postgresql://app@db/shop")        # or mysql://user:password@host/database, sqlite:file
    with client.acquire("billing/nightly", wait=30) as hold:   # TimeoutError: busy; hold.token is the fencing token
        client.renew()                                         # at least every third of the ttl; Lost: stop at once
        hold.guard(cursor)  # in a transaction of the program's own: it commits only while the lock is held

A client belongs to one thread. It knows neither clusters nor poolers, and works only on the server that the database
has recorded (`rowlock sweep` records it). After an error of the database the client and its holds are over."""
import contextlib, functools, random, secrets, time
from rowlock_database import NIL, Again, Database, Waiter, check_name

now = functools.partial(time.clock_gettime, time.CLOCK_BOOTTIME)  # goes on while the machine sleeps


class Lost(Exception):
    """The hold is over. A transaction that it should have guarded must be rolled back."""


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
        self.db, self.id, self.ttl, self.renewed_at = Database(url, prefix), secrets.token_hex(16), ttl, now()
        self.holds, self.ending = set(), set()  # what it has, and what it could not end yet
        self.retry(lambda: self.db.create_lease(self.id, int(ttl * 1000), application))

    def valid(self):
        return now() < self.renewed_at + self.ttl * 0.999 - 0.1

    def renew(self, wait=float("inf")):
        asked_at, alive = self.retry(lambda: (now(), self.db.renew(self.id)), wait)
        if not alive or not self.valid():
            self.close()
            raise Lost("the lease is over")
        self.renewed_at = asked_at
        for hold in self.holds:
            found, hold.requested = self.retry(lambda: self.db.find(hold.name, hold.id, self.id))
            if not found:  # somebody has released it by force
                self.holds.remove(hold)
                raise Lost(hold.name)
        for hold in list(self.ending):
            with contextlib.suppress(TimeoutError, RuntimeError):
                self.release(hold, 0)

    def close(self):
        """Ends the lease, and so all that the client has. This is also the way out of a doubt."""
        self.renewed_at = float("-inf")
        with contextlib.suppress(Exception):
            self.db.end_lease(self.id)
        self.db.close()

    def acquire(self, name, wait=86400.0):
        """With wait=0 it does not join the queue, but may take a second while others have the lock's row locked."""
        check_name(name)
        hold, until, aim = Hold(self, name), now() + wait, "acquire" if wait > 0 else "try"
        try:
            while True:
                hold.token, pause = self.edit(hold, aim, max(1, until - now()))
                if hold.token:
                    self.renew()  # its commit also makes a grant durable that another client has made
                    self.holds.add(hold)
                    return hold
                if now() >= until:
                    raise TimeoutError(f"{name} is busy")
                self.retry(lambda: self.db.poll(name, hold.id, self.id, min(pause, until - now(), self.ttl / 6)))
        except BaseException:  # an interrupt, too, leaves neither a place in the queue nor a grant
            if wait > 0 or hold.token:
                with contextlib.suppress(TimeoutError):
                    self.release(hold, 1)
            raise

    def release(self, hold, wait=30.0):
        """Returns whether the hold stood. TimeoutError: a guarded transaction keeps it; each renewal tries again."""
        self.holds.discard(hold)
        self.ending.discard(hold)
        try:
            return self.valid() and self.edit(hold, "end", wait)[0] is not None
        except BaseException:
            self.ending.add(hold)
            raise

    def edit(self, hold, aim, wait):
        def work():
            if now() >= self.renewed_at + self.ttl / 3:
                self.renew(0)
            with self.db.transaction():
                return self.decide(hold.name, hold.id, aim)
        return self.retry(work, wait)

    def retry(self, work, wait=float("inf")):
        """Returns what work() returns, and repeats it, for this long, while rows are locked and after deadlocks."""
        until, pause = now() + wait, 0.002
        while self.valid():
            try:
                return work()
            except Again:
                if now() >= until:
                    raise
            except self.db.errors:
                self.close()
                raise
            time.sleep(random.uniform(0, pause))
            pause = min(2 * pause, 0.1)
        self.close()
        raise Lost("the lease is over")

    def decide(self, name, me, aim):
        """Grants, queues or ends a request, with the lock's row locked. Returns the token of the request's hold, or
        None, and how long to wait until the next look."""
        lock = self.db.take(name, aim != "end")
        if not lock or aim == "end" and me not in [lock.holder, *(one.hold for one in lock.queue)]:
            return None, 0
        lock.check(name)
        lease, holder, token, pause, granted = lock.lease, lock.holder, None, 1, None
        waiting = [one for one in lock.queue if one.left is not None and not (aim == "end" and one.hold == me)]
        if lease and holder == me and lock.left is not None:
            if aim != "end":
                return lock.token, 0
            token, lease = lock.token, None
        elif lease and lock.left is None and (holder == me or aim != "end"):  # the holder is dead
            lease, holder = (self.db.insert_rest(lock), NIL) if holder != NIL and lock.delay_ms else (None, None)
        elif lease and aim != "end":
            pause = min(1, self.db.require_alive(lease, lock.left, lock.ttl, lock.skew))
        if not lease and waiting:
            granted = waiting.pop(0)
            self.db.require_alive(granted.lease, granted.left, granted.ttl, lock.skew)
        elif not lease and aim != "end":
            granted = Waiter(None, me, self.id, self.id)
        if granted:
            lease, holder = granted.lease, granted.hold
            token = lock.next_token if holder == me else token
        if aim == "acquire" and holder != me and all(one.hold != me for one in waiting):
            waiting.append(Waiter(lock.next_ticket, me, self.id, self.id))
        self.db.write(name, lock, lease, holder, waiting, granted)
        return token, pause
