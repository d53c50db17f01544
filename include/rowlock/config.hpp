// What every public header needs: the version, the export marker and the inline namespace.
#pragma once

#define ROWLOCK_VERSION_MAJOR 0
#define ROWLOCK_VERSION_MINOR 1
#define ROWLOCK_VERSION_PATCH 0
#define ROWLOCK_VERSION "0.1.0"

// The library is built with hidden visibility; what a program may call carries this marker.
#define ROWLOCK_EXPORT __attribute__((visibility("default")))

// Two incompatible versions in one process then have different symbols.
#define ROWLOCK_BEGIN_NAMESPACE \
  namespace rowlock {           \
  inline namespace v0 {
#define ROWLOCK_END_NAMESPACE \
  }                           \
  }
