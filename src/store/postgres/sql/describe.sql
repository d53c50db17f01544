-- $1 the tables' names. One line a column, as in the schema's file.
SELECT c.relname, a.attname, format_type(a.atttypid, a.atttypmod), a.attnotnull
FROM unnest($1::text[]) AS t (name)
JOIN pg_class AS c ON c.oid = to_regclass(t.name)
JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped;
