-- The last of the next names, and how many they are. ?1 after, ?2 how many at most.
SELECT max(name), count(*)
  FROM (SELECT name
          FROM rowlock_lock
         WHERE name > ?1
         ORDER BY name
         LIMIT ?2);
