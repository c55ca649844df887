# Debian packages: libmiodb1, libmiodb-dev and miodb-tools, made from a build that was configured for the prefix /usr, which
# decides where Debian looks for libraries:
#
#   cmake -B build -DCMAKE_INSTALL_PREFIX=/usr && cmake --build build --target miodb_packages && (cd build && cpack)
#
# The install rules say what goes into each; what Debian wants besides, a copyright and a changelog for each and what a
# package with libraries says to dpkg, is made here. tools/checks/check_packages.sh builds, judges, installs and removes them.

set(package_contact "MioDB developers <miodb@users.noreply.github.com>" CACHE STRING "Maintainer of the packages")
set(package_revision 0miodb1)  # before any of Debian's own, which replaces it then

string(TIMESTAMP package_date "%a, %d %b %Y %H:%M:%S +0000" UTC)  # SOURCE_DATE_EPOCH, if that is set
file(WRITE "${PROJECT_BINARY_DIR}/debian/changelog"
     "miodb (${PROJECT_VERSION}-${package_revision}) unstable; urgency=medium\n\n"
     "  * CHANGELOG.md of the sources says what is new.\n\n"
     " -- ${package_contact}  ${package_date}\n")
file(READ LICENSE package_license)
string(REGEX MATCH "Copyright[^\n]*" package_copyright "${package_license}")
string(REGEX REPLACE "\n\n" "\n.\n" package_license "${package_license}")
string(REGEX REPLACE "\n" "\n " package_license "${package_license}")
string(STRIP "${package_license}" package_license)
string(REGEX REPLACE "^Copyright" "" package_copyright "${package_copyright}")
string(STRIP "${package_copyright}" package_copyright)
file(WRITE "${PROJECT_BINARY_DIR}/debian/copyright"
     "Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/\nUpstream-Name: MioDB\n\n"
     "Files: *\nCopyright: ${package_copyright}\nLicense: BSD\n ${package_license}\n")
add_custom_command(OUTPUT "${PROJECT_BINARY_DIR}/debian/changelog.Debian.gz"
                   COMMAND gzip -9nc "${PROJECT_BINARY_DIR}/debian/changelog"
                           > "${PROJECT_BINARY_DIR}/debian/changelog.Debian.gz"
                   DEPENDS "${PROJECT_BINARY_DIR}/debian/changelog" VERBATIM)
add_custom_target(miodb_package_documents ALL DEPENDS "${PROJECT_BINARY_DIR}/debian/changelog.Debian.gz")
# What lintian is told about: a library that is empty on purpose, because what LevelDB has in it is in libleveldb here.
file(WRITE "${PROJECT_BINARY_DIR}/debian/overrides"
     "# -lmemenv has to find something; NewMemEnv itself is in libleveldb.\n"
     "libmiodb-dev: no-code-sections [usr/${CMAKE_INSTALL_LIBDIR}/miodb/compat/libmemenv.a]\n")
install(FILES "${PROJECT_BINARY_DIR}/debian/overrides" DESTINATION "${CMAKE_INSTALL_DATADIR}/lintian/overrides"
        RENAME libmiodb-dev COMPONENT libmiodb-dev EXCLUDE_FROM_ALL)

# All that the packages hold.
add_custom_target(miodb_packages DEPENDS miodb_static miodb_shared miodb_leveldb_static miodb_leveldb_shared miodb
                  ${miodb_tool_links} miodb_manual miodb_package_documents)

# One of them on each package; a plain install has no use for them.
foreach(component libmiodb1 libmiodb-dev miodb-tools)
  install(FILES "${PROJECT_BINARY_DIR}/debian/copyright" "${PROJECT_BINARY_DIR}/debian/changelog.Debian.gz"
          DESTINATION "${CMAKE_INSTALL_DATADIR}/doc/${component}" COMPONENT ${component} EXCLUDE_FROM_ALL)
endforeach()

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME miodb)
set(CPACK_PACKAGE_CONTACT "${package_contact}")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "")  # each package has one of its own
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_COMPONENTS_ALL libmiodb1 libmiodb-dev miodb-tools)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE ${package_revision})
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_ENABLE_COMPONENT_DEPENDS OFF)

# Lines of descriptions end before the 80th column.
string(CONCAT about
       "MioDB is an ordered key-value store that keeps its data in persistent memory,\n"
       "or in a file that stands in for it, with LevelDB's interface.\n.\n")

# The package of the libraries. For one with libraries CPack writes scripts that call ldconfig, which Debian has given up for
# a trigger; so CPack is not told that there are any, and what it would have found out is said by MiodbPackageLibraries.
set(CPACK_DEBIAN_LIBMIODB1_PACKAGE_NAME libmiodb1)
set(CPACK_DEBIAN_LIBMIODB1_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_LIBMIODB1_PACKAGE_SHLIBDEPS OFF)
set(CPACK_PROJECT_CONFIG_FILE "${PROJECT_SOURCE_DIR}/cmake/MiodbPackageLibraries.cmake")
set(CPACK_MIODB_LIBRARIES "${PROJECT_BINARY_DIR}/libmiodb.so;${PROJECT_BINARY_DIR}/compat/libmiodb_leveldb.so")
set(CPACK_MIODB_SCRATCH "${PROJECT_BINARY_DIR}/debian/libraries")
set(package_needs "libmiodb1 (>= ${PROJECT_VERSION})")
file(WRITE "${PROJECT_BINARY_DIR}/debian/shlibs"
     "libmiodb ${PROJECT_VERSION_MAJOR} ${package_needs}\nlibmiodb_leveldb ${PROJECT_VERSION_MAJOR} ${package_needs}\n")
file(WRITE "${PROJECT_BINARY_DIR}/debian/triggers" "activate-noawait ldconfig\n")
set(CPACK_DEBIAN_LIBMIODB1_PACKAGE_CONTROL_EXTRA
    "${PROJECT_BINARY_DIR}/debian/shlibs;${PROJECT_BINARY_DIR}/debian/triggers")
set(CPACK_DEBIAN_LIBMIODB1_DESCRIPTION "key-value store for persistent memory - libraries\n${about}"
    "This package has the shared libraries.")

set(CPACK_DEBIAN_LIBMIODB-DEV_PACKAGE_NAME libmiodb-dev)
set(CPACK_DEBIAN_LIBMIODB-DEV_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_LIBMIODB-DEV_PACKAGE_DEPENDS
    "libmiodb1 (= ${PROJECT_VERSION}-${package_revision}), libpmem-dev, libnuma-dev, liburing-dev, libsnappy-dev, libzstd-dev")
set(CPACK_DEBIAN_LIBMIODB-DEV_DESCRIPTION "key-value store for persistent memory - development\n${about}"
    "This package has headers, static libraries and what CMake and pkg-config look\nfor.")

set(CPACK_DEBIAN_MIODB-TOOLS_PACKAGE_NAME miodb-tools)
set(CPACK_DEBIAN_MIODB-TOOLS_PACKAGE_SECTION database)
set(CPACK_DEBIAN_MIODB-TOOLS_PACKAGE_SUGGESTS "libleveldb1d, librocksdb7.8")
set(CPACK_DEBIAN_MIODB-TOOLS_DESCRIPTION "key-value store for persistent memory - tools\n${about}"
    "This package has miodb, which looks into databases, moves data in and out,\nwatches and repairs them.")

foreach(component LIBMIODB1 LIBMIODB-DEV MIODB-TOOLS)
  string(CONCAT CPACK_DEBIAN_${component}_DESCRIPTION ${CPACK_DEBIAN_${component}_DESCRIPTION})
endforeach()

include(CPack)
