-- Seconds since 2026-01-01, which is 1767225600.
SELECT CAST((julianday('now') - 2440587.5) * 86400.0 AS INTEGER) - 1767225600;
