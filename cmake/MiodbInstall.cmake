# Install rules: headers, libraries, find_package(miodb) and pkg-config. What LevelDB programs need lies in folders named
# compat, which no compiler searches by itself, so that a LevelDB on the same machine stays what it is:
#
#   include/miodb/compat/leveldb   the headers; beside them a copy of miodb/, so that one -I is enough
#   lib/miodb/compat               libleveldb.a, libleveldb.so (a link to libmiodb_leveldb.so.1 in lib), and the files
#                                  by which pkg-config and CMake find a package named leveldb

include(CMakePackageConfigHelpers)

set(package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/miodb")
set(pkgconfig_dir "${CMAKE_INSTALL_LIBDIR}/pkgconfig")

# Installs SOURCE as DESTINATION/NAME. Paths in it are relative to the file, so that an installed tree may be moved:
# @pkgconfig_to_prefix@ leads from there to the prefix.
function(miodb_install_configured source destination name)
  file(RELATIVE_PATH pkgconfig_to_prefix "/prefix/${destination}" "/prefix")
  configure_file("${source}" "${PROJECT_BINARY_DIR}/${name}" @ONLY)
  install(FILES "${PROJECT_BINARY_DIR}/${name}" DESTINATION "${destination}")
endfunction()

install(FILES ${miodb_headers} DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/miodb")
install(TARGETS miodb_static miodb_shared EXPORT miodb LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}"
                                                       ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}")
miodb_install_configured(cmake/miodb.pc.in "${pkgconfig_dir}" miodb.pc)

if(MIODB_BUILD_COMPAT)
  set(compat_include_dir "${CMAKE_INSTALL_INCLUDEDIR}/miodb/compat")
  set(compat_lib_dir "${CMAKE_INSTALL_LIBDIR}/miodb/compat")
  file(GLOB compat_headers CONFIGURE_DEPENDS RELATIVE "${PROJECT_SOURCE_DIR}" "include/compat/leveldb/*.h")
  install(FILES ${compat_headers} DESTINATION "${compat_include_dir}/leveldb")
  install(FILES ${miodb_headers} DESTINATION "${compat_include_dir}/miodb")
  install(TARGETS miodb_leveldb_static miodb_leveldb_shared EXPORT miodb
          LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}" ARCHIVE DESTINATION "${compat_lib_dir}")
  file(RELATIVE_PATH compat_to_lib "/prefix/${compat_lib_dir}" "/prefix/${CMAKE_INSTALL_LIBDIR}")
  string(REGEX REPLACE "/$" "" compat_to_lib "${compat_to_lib}")
  file(MAKE_DIRECTORY "${PROJECT_BINARY_DIR}/installed_libleveldb")
  file(CREATE_LINK "${compat_to_lib}/libmiodb_leveldb.so.${PROJECT_VERSION_MAJOR}"
       "${PROJECT_BINARY_DIR}/installed_libleveldb/libleveldb.so" SYMBOLIC)
  install(FILES "${PROJECT_BINARY_DIR}/installed_libleveldb/libleveldb.so" DESTINATION "${compat_lib_dir}")
  miodb_install_configured(cmake/miodb-leveldb.pc.in "${pkgconfig_dir}" miodb-leveldb.pc)
  miodb_install_configured(cmake/miodb-leveldb.pc.in "${compat_lib_dir}/pkgconfig" leveldb.pc)
  file(RELATIVE_PATH compat_to_package "/prefix/${compat_lib_dir}/cmake/leveldb" "/prefix/${package_dir}")
  configure_file(cmake/leveldbConfig.cmake.in "${PROJECT_BINARY_DIR}/leveldbConfig.cmake" @ONLY)
  write_basic_package_version_file("${PROJECT_BINARY_DIR}/leveldbConfigVersion.cmake" VERSION 1.23
                                   COMPATIBILITY SameMajorVersion)
  install(FILES "${PROJECT_BINARY_DIR}/leveldbConfig.cmake" "${PROJECT_BINARY_DIR}/leveldbConfigVersion.cmake"
          DESTINATION "${compat_lib_dir}/cmake/leveldb")
endif()

install(EXPORT miodb FILE miodbTargets.cmake NAMESPACE miodb:: DESTINATION "${package_dir}")
configure_package_config_file(cmake/miodbConfig.cmake.in "${PROJECT_BINARY_DIR}/miodbConfig.cmake"
                              INSTALL_DESTINATION "${package_dir}")
write_basic_package_version_file("${PROJECT_BINARY_DIR}/miodbConfigVersion.cmake" COMPATIBILITY SameMajorVersion)
install(FILES "${PROJECT_BINARY_DIR}/miodbConfig.cmake" "${PROJECT_BINARY_DIR}/miodbConfigVersion.cmake"
        DESTINATION "${package_dir}")
