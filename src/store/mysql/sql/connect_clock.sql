-- With sysdate-is-now SYSDATE() stands still during a statement: then the two are equal.
SELECT SYSDATE(6), SLEEP(0.001), SYSDATE(6);
