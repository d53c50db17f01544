#!/bin/sh
# Every machine's cron starts this, and one of them does the work: nightly.sh COMMAND [ARGUMENT ...]
status=0
rowlock run reports/nightly --no-wait --ttl 10s -- "$@" || status=$?
case $status in
  75) echo "another machine is at it"; exit 0 ;;
  76) echo "the lock was lost while the command ran: look at what it wrote" >&2 ;;
esac
exit "$status"
