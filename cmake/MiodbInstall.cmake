# Install rules: headers, both libraries, find_package(miodb) and pkg-config.

include(CMakePackageConfigHelpers)

install(FILES ${miodb_headers} DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/miodb")
install(TARGETS miodb_static miodb_shared EXPORT miodb LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}"
                                                       ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}")

set(package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/miodb")
install(EXPORT miodb FILE miodbTargets.cmake NAMESPACE miodb:: DESTINATION "${package_dir}")
configure_package_config_file(cmake/miodbConfig.cmake.in "${PROJECT_BINARY_DIR}/miodbConfig.cmake"
                              INSTALL_DESTINATION "${package_dir}")
write_basic_package_version_file("${PROJECT_BINARY_DIR}/miodbConfigVersion.cmake" COMPATIBILITY SameMajorVersion)
install(FILES "${PROJECT_BINARY_DIR}/miodbConfig.cmake" "${PROJECT_BINARY_DIR}/miodbConfigVersion.cmake"
        DESTINATION "${package_dir}")

# Paths in miodb.pc are relative to the file, so that an installed tree may be moved.
set(pkgconfig_dir "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
file(RELATIVE_PATH pkgconfig_to_prefix "/prefix/${pkgconfig_dir}" "/prefix")
configure_file(cmake/miodb.pc.in "${PROJECT_BINARY_DIR}/miodb.pc" @ONLY)
install(FILES "${PROJECT_BINARY_DIR}/miodb.pc" DESTINATION "${pkgconfig_dir}")
