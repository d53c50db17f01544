-- The last of the next names, and how many they are.
SELECT MAX(name), COUNT(*)
FROM (SELECT l.name
      FROM rowlock_lock AS l
      WHERE l.name > :after
      ORDER BY l.name
      LIMIT :most) AS page;
