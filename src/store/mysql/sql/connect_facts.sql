-- What this connection is. With sysdate-is-now SYSDATE() stands still during a statement: then the two are equal.
SELECT VERSION(), CONNECTION_ID(), COALESCE(DATABASE(), ''), SLEEP(0.001) = 0 AND SYSDATE(6) > NOW(6),
       (SELECT host FROM information_schema.processlist WHERE id = CONNECTION_ID());
