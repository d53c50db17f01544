-- The second in which this server was started: both of these times are taken where the statement begins, so it is
-- the same whenever it is asked and whatever was done to the clock.
SELECT UNIX_TIMESTAMP(NOW()) - CAST(variable_value AS SIGNED)
FROM /*M! information_schema.global_status */ /*!80000 performance_schema.global_status */
WHERE variable_name = 'Uptime';
