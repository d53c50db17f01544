-- Grants a batch as acquire_one does, and tells which of :holds have their lock now; a hold belongs to one name. :kind,
-- :capacity, :fair, :lease and :hold are chosen by the name. One locked row among :names is error 1205 for all.
BEGIN NOT ATOMIC
  SET STATEMENT innodb_lock_wait_timeout = 0 FOR
  UPDATE rowlock_lock FORCE INDEX (PRIMARY)
  SET token = GREATEST(token + 1, (SELECT m.epoch_floor FROM rowlock_meta AS m WHERE m.id = 1)),
      lease_id = :lease,
      hold_id = :hold,
      in_use = capacity,
      used_at = SYSDATE(6)
  WHERE name IN (:names) AND kind = :kind AND capacity = :capacity AND fair = :fair
    AND lease_id IS NULL AND in_use = 0 AND NOT (has_queue AND fair)
    AND (SELECT m.identity FROM rowlock_meta AS m WHERE m.id = 1) = :identity;
  SELECT HEX(l.hold_id), l.token
  FROM rowlock_lock AS l FORCE INDEX (PRIMARY)
  WHERE l.name IN (:names) AND l.hold_id IN (:holds);
END;
