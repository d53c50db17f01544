-- Which database this is, of which server.
SELECT system_identifier || '/' || current_database() FROM pg_control_system();
