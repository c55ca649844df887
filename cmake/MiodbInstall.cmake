# Install rules: headers, libraries, find_package(miodb), pkg-config and the tool miodb. Each belongs to one of three
# packages (MiodbPackages): libmiodb1, what programs need to run; libmiodb-dev, what they need to be built; miodb-tools.
#
# What LevelDB programs need lies in folders named
# compat, which no compiler searches by itself, so that a LevelDB on the same machine stays what it is:
#
#   include/miodb/compat/leveldb   the headers; beside them a copy of miodb/, so that one -I is enough
#   lib/miodb/compat               libleveldb.a, libleveldb.so and libmiodb_leveldb.so.1 (links to the library in lib: what
#                                  the linker takes, and what a program with this folder in its rpath or
#                                  LD_LIBRARY_PATH starts with), include (a link to the headers, for what looks for a
#                                  prefix), and the files by which pkg-config and CMake find a package named leveldb

include(CMakePackageConfigHelpers)

# The component of rules that name none.
set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME libmiodb-dev)

set(package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/miodb")
set(pkgconfig_dir "${CMAKE_INSTALL_LIBDIR}/pkgconfig")

# Installs SOURCE as DESTINATION/NAME. Paths in it are relative to the file, so that an installed tree may be moved:
# @pkgconfig_to_prefix@ leads from there to the prefix.
function(miodb_install_configured source destination name)
  file(RELATIVE_PATH pkgconfig_to_prefix "/prefix/${destination}" "/prefix")
  configure_file("${source}" "${PROJECT_BINARY_DIR}/${name}" @ONLY)
  install(FILES "${PROJECT_BINARY_DIR}/${name}" DESTINATION "${destination}")
endfunction()

set(miodb_own_headers ${miodb_headers})
list(REMOVE_ITEM miodb_own_headers include/miodb/c.h)  # of functions that only the library for LevelDB programs has
install(FILES ${miodb_own_headers} DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/miodb")
install(TARGETS miodb_static miodb_shared EXPORT miodb
        LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT libmiodb1 NAMELINK_COMPONENT libmiodb-dev
        ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}")
miodb_install_configured(cmake/miodb.pc.in "${pkgconfig_dir}" miodb.pc)

if(MIODB_BUILD_COMPAT)
  set(compat_include_dir "${CMAKE_INSTALL_INCLUDEDIR}/miodb/compat")
  set(compat_lib_dir "${CMAKE_INSTALL_LIBDIR}/miodb/compat")
  install(DIRECTORY include/compat/leveldb DESTINATION "${compat_include_dir}" FILES_MATCHING PATTERN "*.h")
  # Debian's LevelDB has NewMemEnv in a library of its own. Here it is in libleveldb, and what -lmemenv finds is empty.
  install(FILES cmake/libmemenv.a DESTINATION "${compat_lib_dir}")
  install(FILES ${miodb_headers} DESTINATION "${compat_include_dir}/miodb")
  install(TARGETS miodb_leveldb_static miodb_leveldb_shared EXPORT miodb
          LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT libmiodb1 NAMELINK_COMPONENT libmiodb-dev
          ARCHIVE DESTINATION "${compat_lib_dir}")
  # Links, relative, so that an installed tree may be moved.
  file(RELATIVE_PATH compat_to_lib "/prefix/${compat_lib_dir}" "/prefix/${CMAKE_INSTALL_LIBDIR}")
  file(RELATIVE_PATH compat_to_include "/prefix/${compat_lib_dir}" "/prefix/${compat_include_dir}")
  string(REGEX REPLACE "/$" "" compat_to_lib "${compat_to_lib}")
  set(run_name "libmiodb_leveldb.so.${PROJECT_VERSION_MAJOR}")
  set(links "${PROJECT_BINARY_DIR}/installed_compat_links")
  file(MAKE_DIRECTORY "${links}")
  file(CREATE_LINK "${compat_to_lib}/${run_name}" "${links}/libleveldb.so" SYMBOLIC)
  file(CREATE_LINK "${compat_to_lib}/${run_name}" "${links}/${run_name}" SYMBOLIC)
  file(CREATE_LINK "${compat_to_include}" "${links}/include" SYMBOLIC)
  install(FILES "${links}/libleveldb.so" "${links}/${run_name}" "${links}/include" DESTINATION "${compat_lib_dir}")
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

# ---- The tool miodb: its other names, the man page and the completion, both of which it prints itself ----

if(MIODB_BUILD_BENCHMARKS)
  install(TARGETS miodb RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}" COMPONENT miodb-tools)
  set(man_page "${PROJECT_BINARY_DIR}/miodb.1.gz")
  set(completion "${PROJECT_BINARY_DIR}/completion/miodb")
  file(MAKE_DIRECTORY "${PROJECT_BINARY_DIR}/completion")
  add_custom_command(OUTPUT "${man_page}" "${completion}"
                     COMMAND miodb --man | gzip -9n > "${man_page}"
                     COMMAND miodb --bash_completion > "${completion}"
                     DEPENDS miodb VERBATIM)
  add_custom_target(miodb_manual ALL DEPENDS "${man_page}" "${completion}")
  install(FILES "${man_page}" DESTINATION "${CMAKE_INSTALL_MANDIR}/man1" COMPONENT miodb-tools)
  install(FILES "${completion}" DESTINATION "${CMAKE_INSTALL_DATADIR}/bash-completion/completions" COMPONENT miodb-tools)
  foreach(name IN LISTS miodb_tool_links)
    file(CREATE_LINK miodb.1.gz "${PROJECT_BINARY_DIR}/${name}.1.gz" SYMBOLIC)
    file(CREATE_LINK miodb "${PROJECT_BINARY_DIR}/completion/${name}" SYMBOLIC)
    install(FILES "${PROJECT_BINARY_DIR}/${name}" DESTINATION "${CMAKE_INSTALL_BINDIR}" COMPONENT miodb-tools)
    install(FILES "${PROJECT_BINARY_DIR}/${name}.1.gz" DESTINATION "${CMAKE_INSTALL_MANDIR}/man1" COMPONENT miodb-tools)
    install(FILES "${PROJECT_BINARY_DIR}/completion/${name}"
            DESTINATION "${CMAKE_INSTALL_DATADIR}/bash-completion/completions" COMPONENT miodb-tools)
  endforeach()
endif()
