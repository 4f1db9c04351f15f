# The package for C++ actors that use a device: headers, libraries, the devices' plugins, and what
# find_package(moxzi) reads. The programs run from the build folder and are not part of it.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(MOXZI_PACKAGE_DIR "${CMAKE_INSTALL_LIBDIR}/cmake/moxzi")
set(MOXZI_PLUGIN_DIR "${CMAKE_INSTALL_LIBDIR}/moxzi")

install(TARGETS moxzi_base moxzi_device moxzi_device_worker moxzi_caf EXPORT moxzi
  ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}")
set_target_properties(moxzi_base PROPERTIES EXPORT_NAME base)
set_target_properties(moxzi_device PROPERTIES EXPORT_NAME device_core)
set_target_properties(moxzi_device_worker PROPERTIES EXPORT_NAME device)
set_target_properties(moxzi_caf PROPERTIES EXPORT_NAME caf)
target_compile_definitions(moxzi_device_worker INTERFACE
  $<INSTALL_INTERFACE:MOXZI_PLUGINS="$<INSTALL_PREFIX>/${MOXZI_PLUGIN_DIR}">)
if(MOXZI_WITH_TORCH)
  install(TARGETS moxzi_torch moxzi_cuda LIBRARY DESTINATION "${MOXZI_PLUGIN_DIR}")
endif()

install(DIRECTORY base device DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/moxzi"
  FILES_MATCHING PATTERN "*.hpp"
  PATTERN aten EXCLUDE PATTERN cuda EXCLUDE PATTERN generate EXCLUDE PATTERN null EXCLUDE
  PATTERN reference EXCLUDE PATTERN torch EXCLUDE)

install(EXPORT moxzi FILE moxzi-targets.cmake NAMESPACE moxzi:: DESTINATION "${MOXZI_PACKAGE_DIR}")
configure_package_config_file("${PROJECT_SOURCE_DIR}/cmake/moxzi-config.cmake.in"
  "${PROJECT_BINARY_DIR}/moxzi-config.cmake" INSTALL_DESTINATION "${MOXZI_PACKAGE_DIR}")
write_basic_package_version_file("${PROJECT_BINARY_DIR}/moxzi-config-version.cmake"
  COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/moxzi-config.cmake"
  "${PROJECT_BINARY_DIR}/moxzi-config-version.cmake" DESTINATION "${MOXZI_PACKAGE_DIR}")
