# The engine with its C API for a binding: target miodb_engine, libleveldb.a with its headers and what it needs.
#
#   MIODB_BUILD_FOLDER   a build folder of this tree in which libleveldb.a lies; without it the engine is built here
#
# A binding's library has the engine in itself and shows none of its names, so that it and another LevelDB do not meet in
# one process.

get_filename_component(miodb_root "${CMAKE_CURRENT_LIST_DIR}/../.." ABSOLUTE)
set(MIODB_BUILD_FOLDER "" CACHE PATH "Build folder of MioDB with compat/libleveldb.a; empty: build the engine here")

add_library(miodb_engine INTERFACE)
if(MIODB_BUILD_FOLDER)
  if(NOT EXISTS "${MIODB_BUILD_FOLDER}/compat/libleveldb.a")
    message(FATAL_ERROR "${MIODB_BUILD_FOLDER}/compat has no libleveldb.a; build the target miodb_leveldb_static")
  endif()
  list(APPEND CMAKE_MODULE_PATH "${miodb_root}/cmake")
  include(MiodbDependencies)
  target_link_libraries(miodb_engine INTERFACE "${MIODB_BUILD_FOLDER}/compat/libleveldb.a" miodb_needs Threads::Threads)
else()
  set(MIODB_BUILD_COMPAT ON CACHE BOOL "" FORCE)
  add_subdirectory("${miodb_root}" miodb EXCLUDE_FROM_ALL)
  target_link_libraries(miodb_engine INTERFACE miodb_leveldb_static)
endif()
target_include_directories(miodb_engine INTERFACE "${miodb_root}/include/compat" "${miodb_root}/include")
target_link_options(miodb_engine INTERFACE "LINKER:--exclude-libs,ALL")
