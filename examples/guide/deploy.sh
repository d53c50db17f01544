#!/bin/sh
# Two steps under one lock: deploy.sh FIRST SECOND
set -e
receipt=$(rowlock acquire deploy --ttl 10m --wait 30s)
trap 'echo "$receipt" | rowlock release --receipt -' EXIT
"$1"
echo "$receipt" | rowlock renew - >/dev/null # 76: the lock was lost; the second step does not run
"$2"
