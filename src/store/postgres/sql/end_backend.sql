-- $1 pid, $2 its start in microseconds. No row: that backend is gone. Another role's start is hidden; then
-- this is refused, unless that role may signal it.
SELECT pg_terminate_backend(pid)
FROM pg_stat_activity
WHERE pid = $1::integer
  AND coalesce((extract(epoch FROM backend_start) * 1000000)::bigint, $2::bigint) = $2::bigint;
