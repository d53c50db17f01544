"""The process of worker.hpp with the client of examples/python in it: python_worker.py URL PREFIX APPLICATION TTL …

It understands a part of the commands of worker/commands.cpp, and of its loads the counter, on one thread."""
import os
import select
import signal
import sqlite3
import sys
from urllib.parse import unquote, urlsplit

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../../examples/python"))
import rowlock  # noqa: E402


class Ledger:
    """An application's own connection, and the tables of ledger.hpp."""

    def __init__(self, url, prefix):
        kind, _, path = url.partition(":")
        self.prefix, self.question_marks = prefix, kind == "sqlite"
        self.begin = "BEGIN IMMEDIATE" if kind == "sqlite" else "BEGIN"
        if kind == "sqlite":
            self.connection = sqlite3.connect(path, isolation_level=None, timeout=20)
        elif kind in ("mysql", "mariadb"):
            import pymysql
            at = urlsplit(url)
            self.connection = pymysql.connect(host=at.hostname, port=at.port or 3306, user=unquote(at.username),
                                              password=unquote(at.password or ""), database=at.path[1:],
                                              charset="utf8mb4", autocommit=True)
        else:
            import psycopg2
            self.connection = psycopg2.connect(url)
            self.connection.autocommit = True

    def run(self, sql, *arguments):
        cursor = self.connection.cursor()
        sql = sql.replace("@", self.prefix)
        cursor.execute(sql.replace("%s", "?") if self.question_marks else sql, arguments)
        return cursor

    def value(self, hold):
        return self.run("SELECT value FROM @counter WHERE name = %s", hold.name).fetchone()[0]

    def begin_guarded(self, hold):
        self.run(self.begin)
        try:
            hold.guard(self.connection.cursor())
        except BaseException:
            self.run("ROLLBACK")
            raise

    def write(self, hold, value=None):
        try:
            value = self.value(hold) + 1 if value is None else value
            self.run("UPDATE @counter SET value = %s WHERE name = %s", value, hold.name)
            self.run("INSERT INTO @log (name, hold_id, token, value, pid) VALUES (%s, %s, %s, %s, %s)",
                     hold.name, hold.id, hold.token, value, os.getpid())
        except BaseException:
            self.run("ROLLBACK")
            raise
        self.run("COMMIT")

    def add(self, hold, guarded):
        if guarded:
            self.begin_guarded(hold)
            self.write(hold)
        else:
            value = self.value(hold) + 1
            self.run(self.begin)
            self.write(hold, value)


class Worker:
    def __init__(self, url, prefix, application, ttl_ms, *_):
        self.make = lambda: rowlock.Client(url, int(ttl_ms) / 1000, application, prefix)
        self.client, self.ledger, self.hold = self.make(), Ledger(url, prefix), None
        self.counts = {}

    def acquire(self, name, wait=60):
        try:
            self.hold = self.client.acquire(name, wait)
        except TimeoutError:
            return "busy"
        return f"granted {self.hold.token} {self.hold.id}"

    def run(self, what, *words):
        if what == "acquire":
            return self.acquire(words[0])
        if what == "try":
            return self.acquire(words[0], 0)
        if what == "try_for":
            return self.acquire(words[0], int(words[1]) / 1000)
        if what == "release":
            return "released" if self.client.release(self.hold) else "lost"
        if what == "release_within":
            try:
                return "released" if self.client.release(self.hold, int(words[0]) / 1000) else "lost"
            except TimeoutError:
                return "kept"
        if what == "state":
            return "valid" if self.client.valid() else "invalid"
        if what == "renew":
            try:
                self.client.renew()
            except rowlock.Lost:
                return "lost"
            return "requested" if self.hold.requested else "renewed"
        if what == "begin_guarded":
            try:
                self.ledger.begin_guarded(self.hold)
            except rowlock.Lost:
                return "refused"
            return "guarded"
        if what == "end_guarded":
            self.ledger.write(self.hold)
            return "written"
        if what == "stop_before_guard":
            print("stopping", flush=True)
            os.kill(os.getpid(), signal.SIGSTOP)
            return self.run("begin_guarded")
        if what == "load":
            print("loading", flush=True)
            return self.load(words[0] == "guarded", int(words[2]), words[3:])
        return f"no such command: {what}"

    def load(self, guarded, rounds, names):
        counts = dict.fromkeys(("granted", "written", "lost", "unaware", "unreleased", "failed"), 0)
        line, round = "", 0
        while line != "halt" and (rounds == 0 or round < rounds):
            name, round = names[(os.getpid() + round) % len(names)], round + 1
            try:
                hold = self.client.acquire(name, 120)
                counts["granted"] += 1
                try:
                    self.ledger.add(hold, guarded)
                    counts["written"] += 1
                except rowlock.Lost:
                    counts["unaware"] += self.client.valid()
                counts["unreleased"] += not self.client.release(hold) and self.client.valid()
            except rowlock.Lost:
                counts["lost"] += 1
                self.client = self.make()
            if not line and select.select([sys.stdin], [], [], 0)[0]:
                line = sys.stdin.readline().strip() or "halt"
        if not line:
            sys.stdin.readline()
        return " ".join(f"{what}={count}" for what, count in counts.items()) + " "


def main():
    try:
        worker = Worker(*sys.argv[1:])
    except Exception as failure:
        print(failure, flush=True)
        return 1
    print("connected", flush=True)
    for line in iter(sys.stdin.readline, ""):
        try:
            print(worker.run(*line.split()), flush=True)
        except Exception as failure:
            print(f"error {type(failure).__name__} {failure}", flush=True)
    worker.client.close()
    return 0


sys.exit(main())
