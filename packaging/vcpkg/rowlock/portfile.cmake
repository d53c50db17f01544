# Unverified, see packaging/README.md. An overlay port: it builds the sources that it stands beside.
get_filename_component(SOURCE_PATH "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)

# A feature that is not asked for is OFF: AUTO would build a store whose driver happens to be there.
vcpkg_check_features(
  OUT_FEATURE_OPTIONS FEATURE_OPTIONS
  FEATURES postgres ROWLOCK_POSTGRES mysql ROWLOCK_MYSQL sqlite ROWLOCK_SQLITE command ROWLOCK_COMMAND)
vcpkg_cmake_configure(
  SOURCE_PATH "${SOURCE_PATH}"
  OPTIONS ${FEATURE_OPTIONS} -DROWLOCK_TESTS=OFF -DROWLOCK_BENCH=OFF -DROWLOCK_EXAMPLES=OFF -DROWLOCK_PACKAGE=OFF
          -DROWLOCK_SERVE=OFF)
vcpkg_cmake_install()
vcpkg_cmake_config_fixup(CONFIG_PATH lib/cmake/rowlock)
vcpkg_fixup_pkgconfig()
if("command" IN_LIST FEATURES)
  vcpkg_copy_tools(TOOL_NAMES rowlock AUTO_CLEAN)
endif()
file(REMOVE_RECURSE "${CURRENT_PACKAGES_DIR}/debug/include" "${CURRENT_PACKAGES_DIR}/debug/share")
vcpkg_install_copyright(FILE_LIST "${SOURCE_PATH}/LICENSE")
