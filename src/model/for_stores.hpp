// What the core exports for the stores.
//
// The core and each store are libraries of their own (src/CMakeLists.txt), built with hidden visibility. A store calls
// the declarations that this marks; without the mark it does not link as a shared library. They are no public
// interface: no installed header declares them, and the shared core gives them a symbol version that names its exact
// version (cmake/rowlock.map.in). So a store of another version does not load with this core, and two versions of
// rowlock in one process do not take each other's.
#pragma once

#define ROWLOCK_FOR_STORES [[gnu::visibility("default")]]
