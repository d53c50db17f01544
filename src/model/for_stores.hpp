// Marks what the core exports for the stores, and for the command.
//
// The core and each store are separate libraries (src/CMakeLists.txt), built with hidden visibility. A store, or the
// command, may call only declarations with this mark; otherwise neither links with a shared core. The marked
// declarations are not a public interface: no installed header has them, and the shared core gives them a symbol version
// that names its exact version (cmake/rowlock.map.in). So a store of another version does not load with this core, and
// two versions of rowlock in one process stay apart.
#pragma once

#define ROWLOCK_FOR_STORES [[gnu::visibility("default")]]
