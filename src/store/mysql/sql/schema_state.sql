SELECT schema_version, min_library FROM rowlock_meta WHERE id = 1;
