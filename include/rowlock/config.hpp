// What every public header needs: the version, the export marker and the versioned namespace.
#pragma once

#if !defined(__cplusplus) || __cplusplus <= 201703L  // an early C++20 compiler has a number between the two
#error "rowlock needs C++20: compile with -std=c++20, or link rowlock::rowlock in CMake"
#endif

#define ROWLOCK_VERSION_MAJOR 0
#define ROWLOCK_VERSION_MINOR 1
#define ROWLOCK_VERSION_PATCH 0
#define ROWLOCK_VERSION "0.1.0"

// The library is built with hidden visibility; this marks what a program may call.
#define ROWLOCK_EXPORT [[gnu::visibility("default")]]
// For private members of exported classes that no inline function calls.
#define ROWLOCK_HIDDEN [[gnu::visibility("hidden")]]
// For classes whose objects hold something: the compiler warns if a call's result is ignored.
#define ROWLOCK_OWNER [[nodiscard("it is destroyed at once, and releases what it holds")]] ROWLOCK_EXPORT

// Two incompatible versions in one process have different symbols. Before 1.0 each minor version has its own.
#define ROWLOCK_BEGIN_NAMESPACE \
  namespace rowlock {           \
  inline namespace v0_1 {
#define ROWLOCK_END_NAMESPACE \
  }                           \
  }

// Internal types that public classes point to. They are declared here, so that they are versioned as well.
ROWLOCK_BEGIN_NAMESPACE
namespace client_layer {
class async_request;
class engine;
class hold_state;
}  // namespace client_layer
namespace model {
struct lock_request;
}
namespace primitives {
struct access;
class named_lock;
class barrier_lock;
class latch_lock;
class quorum_lock;
class quorum_state;
class semaphore_lock;
class standard_lock;
}  // namespace primitives
ROWLOCK_END_NAMESPACE
