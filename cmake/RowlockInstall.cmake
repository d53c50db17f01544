# What `cmake --install` and CPack put where. Two components: runtime (library, command, man page) and development.
include(CMakePackageConfigHelpers)

set(config_dir ${CMAKE_INSTALL_LIBDIR}/cmake/rowlock)
set(installed rowlock)
set(built_components "")
foreach(backend IN ITEMS postgres mysql sqlite)
  if(TARGET rowlock_component_${backend})
    list(APPEND installed rowlock_component_${backend})
    list(APPEND built_components ${backend})
  endif()
endforeach()

# An archive contains all layers, but not the drivers, which its user links. The layers are not exported.
get_target_property(library_type rowlock TYPE)
set(static_libraries "")
if(library_type STREQUAL "STATIC_LIBRARY")
  set(static_libraries Threads::Threads fmt::fmt)
  if("postgres" IN_LIST built_components)
    list(APPEND static_libraries pqxx pq)
  endif()
  if("mysql" IN_LIST built_components)
    # The client library under the name that it has here: mariadb, or mysqlclient.
    get_filename_component(client_library ${MYSQL_CLIENT_LIBRARY} NAME_WE)
    string(REGEX REPLACE "^lib" "" client_library ${client_library})
    list(APPEND static_libraries soci_mysql soci_core ${client_library})
  endif()
  if("sqlite" IN_LIST built_components)
    list(APPEND static_libraries SQLite::SQLite3)
  endif()
  set(link_only "")
  foreach(library IN LISTS static_libraries)
    list(APPEND link_only $<LINK_ONLY:${library}>)
  endforeach()
  set_target_properties(rowlock PROPERTIES INTERFACE_LINK_LIBRARIES "${link_only}")
endif()

install(
  TARGETS ${installed}
  EXPORT rowlockTargets
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT runtime NAMELINK_COMPONENT development
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development
  FILE_SET HEADERS DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT development)
install(EXPORT rowlockTargets NAMESPACE rowlock:: DESTINATION ${config_dir} COMPONENT development)
configure_package_config_file(cmake/rowlockConfig.cmake.in ${PROJECT_BINARY_DIR}/rowlockConfig.cmake
                              INSTALL_DESTINATION ${config_dir})
# Before 1.0 a minor version may break its users.
write_basic_package_version_file(${PROJECT_BINARY_DIR}/rowlockConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/rowlockConfig.cmake ${PROJECT_BINARY_DIR}/rowlockConfigVersion.cmake
        DESTINATION ${config_dir} COMPONENT development)

# The drivers are named here, and not required by their .pc files, which would add what a static libpq needs.
set(pc_libs_private "")
foreach(library IN LISTS static_libraries)
  string(REGEX REPLACE "^.*::" "" library ${library})
  string(TOLOWER ${library} library)
  if(library STREQUAL "threads")
    set(library pthread)
  endif()
  string(APPEND pc_libs_private " -l${library}")
endforeach()
# Relative to the file, so that the folder can be moved.
file(RELATIVE_PATH pc_prefix /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
configure_file(cmake/rowlock.pc.in ${PROJECT_BINARY_DIR}/rowlock.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/rowlock.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT development)

if(TARGET rowlock_command)
  # The command finds its library wherever the two were put together.
  set_target_properties(rowlock_command PROPERTIES INSTALL_RPATH "$ORIGIN/../${CMAKE_INSTALL_LIBDIR}")
  install(TARGETS rowlock_command RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT runtime)
  install(DIRECTORY share/ DESTINATION ${CMAKE_INSTALL_DATADIR} COMPONENT runtime) # completion for shells
  if(EXISTS ${PROJECT_SOURCE_DIR}/docs/rowlock.1)
    install(FILES docs/rowlock.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT runtime)
  endif()
endif()
install(DIRECTORY migrations DESTINATION ${CMAKE_INSTALL_DATADIR}/rowlock COMPONENT runtime)
install(FILES LICENSE README.md DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT runtime)

include(RowlockPackage)
