# What `cmake --install` and CPack put where. Each library is a component of the installation by its name (core,
# postgres, mysql, sqlite); the others are command, and development for headers, archives and build files.
include(CMakePackageConfigHelpers)

set(rowlock_is_static TRUE)
if(BUILD_SHARED_LIBS)
  set(rowlock_is_static FALSE)
endif()

set(config_dir ${CMAKE_INSTALL_LIBDIR}/cmake/rowlock)
# Relative to the file, so that the folder can be moved.
file(RELATIVE_PATH pc_prefix /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)

# rowlock_install_library(name target): the library, its headers, its CMake targets and its .pc file. Each library has
# targets of its own, so that a program which needs one store needs the drivers of that one alone.
function(rowlock_install_library name target)
  install(
    TARGETS ${target}
    EXPORT rowlock-${name}Targets
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT ${name} NAMELINK_COMPONENT development
    ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development
    FILE_SET HEADERS DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT development)
  install(EXPORT rowlock-${name}Targets NAMESPACE rowlock:: DESTINATION ${config_dir} COMPONENT development)

  # What an archive needs is needed without --static too, since no shared library brings it. The drivers are named here,
  # and not required by their .pc files, which would add what a static libpq needs.
  set(pc_drivers "")
  if(NOT BUILD_SHARED_LIBS)
    get_target_property(drivers ${target} ROWLOCK_INSTALLED_DRIVERS)
    foreach(library IN LISTS drivers)
      string(REGEX REPLACE "^.*::" "" library ${library})
      string(TOLOWER ${library} library)
      if(library STREQUAL "threads")
        set(library pthread)
      endif()
      string(APPEND pc_drivers " -l${library}")
    endforeach()
  endif()
  set(pc_name rowlock-${name})
  if(name STREQUAL "core")
    set(pc_description "${PROJECT_DESCRIPTION}; without a store")
    set(pc_requires "")
    set(pc_libs -lrowlock-core)
  else()
    set(pc_description "The ${name} store of rowlock")
    set(pc_requires "rowlock-core = ${PROJECT_VERSION}")
    # One word, which pkg-config neither sorts nor shortens; src/store/registry.hpp says what it is for.
    set(pc_libs -Wl,--push-state,--no-as-needed,-u,rowlock_store_${name},-lrowlock-${name},--pop-state)
  endif()
  string(APPEND pc_libs "${pc_drivers}")
  configure_file(cmake/rowlock.pc.in ${PROJECT_BINARY_DIR}/${pc_name}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/${pc_name}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT development)
endfunction()

rowlock_install_library(core rowlock_core)
set(pc_requires "")
foreach(backend IN LISTS ROWLOCK_BACKENDS)
  rowlock_install_library(${backend} rowlock_${backend}_store)
  list(APPEND pc_requires "rowlock-${backend} = ${PROJECT_VERSION}")
endforeach()
# Everything that was built.
list(APPEND pc_requires "rowlock-core = ${PROJECT_VERSION}")
list(JOIN pc_requires ", " pc_requires)
set(pc_name rowlock)
set(pc_description "${PROJECT_DESCRIPTION}")
set(pc_libs "")
configure_file(cmake/rowlock.pc.in ${PROJECT_BINARY_DIR}/rowlock.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/rowlock.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT development)

configure_package_config_file(cmake/rowlockConfig.cmake.in ${PROJECT_BINARY_DIR}/rowlockConfig.cmake
                              INSTALL_DESTINATION ${config_dir})
# Before 1.0 a minor version may break its users.
write_basic_package_version_file(${PROJECT_BINARY_DIR}/rowlockConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/rowlockConfig.cmake ${PROJECT_BINARY_DIR}/rowlockConfigVersion.cmake
        DESTINATION ${config_dir} COMPONENT development)

if(TARGET rowlock_command)
  # The command finds its libraries wherever they were put together.
  set_target_properties(rowlock_command PROPERTIES INSTALL_RPATH "$ORIGIN/../${CMAKE_INSTALL_LIBDIR}")
  install(TARGETS rowlock_command RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT command)
  install(DIRECTORY share/bash-completion share/fish share/zsh DESTINATION ${CMAKE_INSTALL_DATADIR} COMPONENT command)
  install(FILES docs/rowlock.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT command)
endif()
if(TARGET rowlock_serve)
  # Not into share/grafana and share/prometheus, which belong to other packages. The dashboard's pages are in the command.
  install(DIRECTORY share/grafana share/prometheus DESTINATION ${CMAKE_INSTALL_DATADIR}/rowlock COMPONENT command)
endif()
install(DIRECTORY migrations DESTINATION ${CMAKE_INSTALL_DATADIR}/rowlock COMPONENT command)
# The pages, as in the repository: their links to each other work, and docs/operations.md is where the doctor says.
install(FILES CHANGELOG.md CONTRIBUTING.md LICENSE README.md SECURITY.md DESTINATION ${CMAKE_INSTALL_DOCDIR}
        COMPONENT command)
install(
  DIRECTORY docs examples packaging
  DESTINATION ${CMAKE_INSTALL_DOCDIR}
  COMPONENT command
  PATTERN site EXCLUDE)

if(ROWLOCK_PACKAGE)
  include(RowlockPackage)
endif()
