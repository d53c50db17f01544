"""A program that writes under a lock that `rowlock run` has: guarded.py ROWLOCK URL [OPTION-OF-GUARD…]

It begins a transaction with the guard that `rowlock guard` prints, says whether the guard has found the hold, and
commits when its input ends. ROWLOCK_NAME and ROWLOCK_HOLD say which hold that is."""
import sqlite3
import subprocess
import sys
from urllib.parse import unquote, urlsplit


def connect(url):
    kind, _, path = url.partition(":")
    if kind == "sqlite":
        return sqlite3.connect(path, isolation_level=None, timeout=10)
    if kind in ("mysql", "mariadb"):
        import pymysql
        at = urlsplit(url)
        return pymysql.connect(host=at.hostname, port=at.port or 3306, user=unquote(at.username),
                               password=unquote(at.password or ""), database=at.path[1:], charset="utf8mb4")
    import psycopg2
    return psycopg2.connect(url)


def main(command, url, *options):
    dialect = url.partition(":")[0]
    guard = subprocess.run([command, "guard", "--dialect", dialect, *options], check=True, stdout=subprocess.PIPE,
                           universal_newlines=True).stdout
    connection = connect(url)
    cursor = connection.cursor()
    if dialect == "sqlite":  # the other drivers begin a transaction by themselves
        cursor.execute("BEGIN IMMEDIATE")
    cursor.execute(guard)
    if cursor.fetchone():
        print("held", flush=True)
        sys.stdin.read()
        connection.commit()
        print("committed", flush=True)
    else:
        connection.rollback()
        print("refused", flush=True)


main(*sys.argv[1:])
