#!/bin/sh
# Runs a command while it holds a lock: ROWLOCK_SERVE=http://host:8600 ROWLOCK_BEARER=TOKEN lock.sh NAME COMMAND...
# NAME must be percent-encoded. The command finds its fencing token in ROWLOCK_TOKEN, and is ended if the lock is lost.
# Exit code 75: busy; 76: the lock was lost; else that of the command.
name=$1; shift
hold=$ROWLOCK_SERVE/v1/locks/$name/holds/$(cat /proc/sys/kernel/random/uuid)
ask() { printf 'header = "Authorization: Bearer %s"\n' "$ROWLOCK_BEARER" |  # not on a command line, which others see
  curl -K - --fail --silent --show-error --retry 3 -H 'Content-Type: application/json' "$@"; }
granted=$(ask -X PUT -d '{"ttl_ms": 30000, "wait_ms": 60000}' "$hold") || exit 75
ROWLOCK_TOKEN=$(printf '%s' "$granted" | sed 's/.*"token":\([0-9]*\).*/\1/') "$@" &
job=$!
(while sleep 10 && kill -0 "$job"; do ask -X POST "$hold/renew" || kill "$job"; done) >/dev/null 2>&1 &
renewing=$!; ends=; trap 'ends=yes; kill "$job"' INT TERM
wait "$job"; code=$?
while [ "$ends" ] && [ "$code" -gt 128 ]; do ends=; wait "$job"; code=$?; done  # the signal has ended only the wait
kill "$renewing"  # the number of the job may soon be another process's
ask -o /dev/null -X DELETE "$hold" || exit 76
exit "$code"
