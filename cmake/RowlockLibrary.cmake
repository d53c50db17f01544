# The installed libraries, made of the layers' objects: rowlock::core, and rowlock::postgres, rowlock::mysql and
# rowlock::sqlite when that store was built.

# rowlock_library(name LAYERS … HEADERS … DRIVERS … [INSTALLED_DRIVERS …] [TARGET …])
#   DRIVERS            libraries that the layers' code calls
#   INSTALLED_DRIVERS  the same, as the installed package names them; default: DRIVERS
# Makes librowlock-<name>. The drivers stay private: a program that needs one for itself links it.
function(rowlock_library name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "TARGET" "LAYERS;HEADERS;DRIVERS;INSTALLED_DRIVERS")
  if(NOT arg_TARGET)
    set(arg_TARGET rowlock_${name})
  endif()
  if(NOT arg_INSTALLED_DRIVERS)
    set(arg_INSTALLED_DRIVERS ${arg_DRIVERS})
  endif()
  add_library(${arg_TARGET})
  add_library(rowlock::${name} ALIAS ${arg_TARGET})
  foreach(layer IN LISTS arg_LAYERS)
    target_sources(${arg_TARGET} PRIVATE $<TARGET_OBJECTS:rowlock_${layer}>)
  endforeach()
  target_sources(${arg_TARGET} PUBLIC FILE_SET HEADERS BASE_DIRS ${PROJECT_SOURCE_DIR}/include FILES ${arg_HEADERS})
  target_link_libraries(${arg_TARGET} PRIVATE $<BUILD_INTERFACE:rowlock_build>)
  if(BUILD_SHARED_LIBS)
    target_link_libraries(${arg_TARGET} PRIVATE ${arg_DRIVERS} fmt::fmt Threads::Threads)
    # All symbols must be found here and now. The library stays loaded as long as the process: its threads, or the
    # core's table of stores, may use it.
    target_link_options(${arg_TARGET} PRIVATE LINKER:-z,defs LINKER:-z,nodelete)
    if(ROWLOCK_SANITIZE)
      target_link_options(${arg_TARGET} PRIVATE LINKER:-z,undefs) # the program brings the sanitizer's functions
    endif()
  else()
    # An archive contains no drivers; its user links them.
    foreach(library IN LISTS arg_DRIVERS)
      target_link_libraries(${arg_TARGET} INTERFACE $<BUILD_INTERFACE:$<LINK_ONLY:${library}>>)
    endforeach()
    foreach(library IN LISTS arg_INSTALLED_DRIVERS)
      target_link_libraries(${arg_TARGET} INTERFACE $<INSTALL_INTERFACE:$<LINK_ONLY:${library}>>)
    endforeach()
  endif()
  # Before 1.0 a minor version may break its users.
  set(soversion ${PROJECT_VERSION_MAJOR})
  if(soversion EQUAL 0)
    set(soversion 0.${PROJECT_VERSION_MINOR})
  endif()
  set_target_properties(
    ${arg_TARGET}
    PROPERTIES OUTPUT_NAME rowlock-${name}
               EXPORT_NAME ${name}
               LINKER_LANGUAGE CXX
               VERSION ${PROJECT_VERSION}
               SOVERSION ${soversion}
               INSTALL_RPATH $ORIGIN
               ROWLOCK_INSTALLED_DRIVERS "${arg_INSTALLED_DRIVERS}")
endfunction()

# The same for a store. A program calls nothing of it: it enters the core's table of stores by itself, and the linker
# must be told that it is needed (src/store/registry.hpp).
function(rowlock_store_library name)
  set(target rowlock_${name}_store)
  rowlock_library(${name} TARGET ${target} LAYERS ${name} ${ARGN})
  target_link_libraries(${target} PUBLIC rowlock_core)
  if(BUILD_SHARED_LIBS)
    set(map ${PROJECT_SOURCE_DIR}/cmake/rowlock_store.map)
    target_link_options(${target} PRIVATE LINKER:--version-script=${map})
    set_property(TARGET ${target} APPEND PROPERTY LINK_DEPENDS ${map})
    # Distributions' compilers pass --as-needed.
    target_link_libraries(
      ${target} INTERFACE -Wl,--push-state,--no-as-needed,$<TARGET_LINKER_FILE:$<TARGET_NAME:${target}>>,--pop-state)
  else()
    target_link_libraries(${target} INTERFACE -Wl,-u,rowlock_store_${name})
  endif()
endfunction()
