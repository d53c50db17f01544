# Warnings and sanitizers are on one interface target, which no consumer of the library sees.
add_library(rowlock_build INTERFACE)
target_compile_options(rowlock_build INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor -Woverloaded-virtual)
if(ROWLOCK_WERROR)
  target_compile_options(rowlock_build INTERFACE -Werror)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # These warn of the standard library's own headers when they are inlined: -Wrestrict and -Wstringop-overflow in a
  # string's operator+ (GCC bug 105329), -Wmaybe-uninitialized in optional, and under every sanitizer.
  target_compile_options(rowlock_build INTERFACE -Wno-maybe-uninitialized -Wno-restrict -Wno-stringop-overflow)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # Without it ccache cannot cache files that use a precompiled header.
  target_compile_options(rowlock_build INTERFACE -fpch-preprocess)
endif()
if(ROWLOCK_SANITIZE)
  target_compile_options(rowlock_build INTERFACE -fsanitize=${ROWLOCK_SANITIZE} -fno-omit-frame-pointer)
  target_link_options(rowlock_build INTERFACE -fsanitize=${ROWLOCK_SANITIZE})
  if(ROWLOCK_SANITIZE MATCHES "thread")
    # GCC warns of every fence under TSan, also of those in the standard library.
    target_compile_options(rowlock_build INTERFACE -Wno-tsan)
  endif()
endif()

if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  # src/model/annotated_mutex.hpp says how a class is annotated for it.
  target_compile_options(rowlock_build INTERFACE -Wthread-safety)
endif()

find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CCACHE_PROGRAM})
endif()

# An internal layer is an object library, so that all layers become one library with hidden symbols.
#   rowlock_layer(NAME SOURCES... [PRECOMPILES HEADERS...] [PRECOMPILED_BY LAYER])
# The standard's headers take half of a layer's compilation, so the layer "model" compiles them for all layers. A layer
# with PRECOMPILES compiles them for itself, with more headers, and for the layers that it precompiles.
function(rowlock_layer name)
  cmake_parse_arguments(layer "" "PRECOMPILED_BY" "PRECOMPILES" ${ARGN})
  add_library(rowlock_${name} OBJECT ${layer_UNPARSED_ARGUMENTS})
  target_include_directories(rowlock_${name} PUBLIC ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/include)
  target_link_libraries(rowlock_${name} PUBLIC $<BUILD_INTERFACE:rowlock_build> fmt::fmt Threads::Threads)
  # With CMAKE_UNITY_BUILD a file may use a name that another one in its unit has for something else.
  set_target_properties(rowlock_${name} PROPERTIES UNITY_BUILD_CODE_BEFORE_INCLUDE
                                                   "#pragma GCC diagnostic ignored \"-Wshadow\"")
  if(name STREQUAL "model" OR layer_PRECOMPILES)
    target_precompile_headers(
      rowlock_${name} PRIVATE
      <algorithm> <atomic> <chrono> <condition_variable> <deque> <functional> <map> <memory> <mutex> <optional> <random>
      <set> <span> <stop_token> <string> <thread> <unordered_map> <unordered_set> <vector> <fmt/format.h>
      ${layer_PRECOMPILES})
  elseif(layer_PRECOMPILED_BY)
    target_precompile_headers(rowlock_${name} REUSE_FROM rowlock_${layer_PRECOMPILED_BY})
  else()
    target_precompile_headers(rowlock_${name} REUSE_FROM rowlock_model)
  endif()
endfunction()

# Resolves an AUTO|ON|OFF option: AUTO means on if the client library, or what else it needs, compiles.
function(rowlock_backend option description compiles result)
  if(${option} STREQUAL "OFF")
    set(on FALSE)
  elseif(${compiles})
    set(on TRUE)
  elseif(${option} STREQUAL "ON")
    message(FATAL_ERROR "${option}=ON, but what it needs does not compile here. Install ${description}.")
  else()
    set(on FALSE)
  endif()
  set(${result} ${on} PARENT_SCOPE)
  add_feature_info(${option} ${on} "${description}")
endfunction()
