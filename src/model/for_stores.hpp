// Marks what the core exports for the stores.
//
// The core and each store are separate libraries (src/CMakeLists.txt), built with hidden visibility. A store may call
// only declarations with this mark; without it a shared library does not link. The marked declarations are not a public
// interface: no installed header has them, and the shared core gives them a symbol version that names its exact version
// (cmake/rowlock.map.in). So a store of another version does not load with this core, and two versions of rowlock in
// one process stay apart.
#pragma once

#define ROWLOCK_FOR_STORES [[gnu::visibility("default")]]
