// What every public header needs: the version, the export marker and the inline namespace.
#pragma once

#if !defined(__cplusplus) || __cplusplus <= 201703L  // an early C++20 compiler has a number between the two
#error "rowlock needs C++20: compile with -std=c++20, or link rowlock::rowlock in CMake"
#endif

#define ROWLOCK_VERSION_MAJOR 0
#define ROWLOCK_VERSION_MINOR 1
#define ROWLOCK_VERSION_PATCH 0
#define ROWLOCK_VERSION "0.1.0"

// The library has hidden visibility; this marks what a program may call.
#define ROWLOCK_EXPORT __attribute__((visibility("default")))

// Incompatible versions in one process then have different symbols.
#define ROWLOCK_BEGIN_NAMESPACE \
  namespace rowlock {           \
  inline namespace v0 {
#define ROWLOCK_END_NAMESPACE \
  }                           \
  }
