# rowlock::postgres, rowlock::mysql and rowlock::sqlite exist when that store was built in, so that a program which needs one says so
# and fails at configure time rather than at its first connect(). They add nothing to rowlock::rowlock: the drivers
# stay private, and a guard header's driver is the program's own dependency.
foreach(backend IN LISTS ROWLOCK_BACKENDS)
  add_library(rowlock_component_${backend} INTERFACE)
  add_library(rowlock::${backend} ALIAS rowlock_component_${backend})
  set_target_properties(rowlock_component_${backend} PROPERTIES EXPORT_NAME ${backend})
  target_link_libraries(rowlock_component_${backend} INTERFACE rowlock)
endforeach()
