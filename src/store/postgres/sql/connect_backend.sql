-- The backend that this connection has now. libpq knows it too, unless there is a pooler between them.
SELECT pg_backend_pid();
