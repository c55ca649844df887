# The libraries that the engine needs: libpmem, libnuma, liburing, snappy, zstd and the header of xxHash. docs/dependencies.md says why.

set(THREADS_PREFER_PTHREAD_FLAG ON)
find_package(Threads REQUIRED)

# Finds a header and, unless LIBRARY is empty, a library, and defines the imported target. Names the Debian package
# when something is missing and REQUIRED is given; otherwise leaves the target undefined.
function(miodb_find target header library package)
  set(id "MIODB_${package}")
  find_path(${id}_INCLUDE "${header}")
  mark_as_advanced(${id}_INCLUDE)
  set(found "${${id}_INCLUDE}")
  if(library)
    find_library(${id}_LIBRARY "${library}")
    mark_as_advanced(${id}_LIBRARY)
    if(NOT ${id}_LIBRARY)
      set(found "")
    endif()
  endif()
  if(NOT found)
    if("REQUIRED" IN_LIST ARGN)
      message(FATAL_ERROR "${header} not found. Install the Debian package ${package}, or all that is needed with "
                          "test_sh/install_deps.sh.")
    endif()
    message(STATUS "${header} not found (Debian package ${package})")
    return()
  endif()
  add_library(${target} INTERFACE IMPORTED GLOBAL)
  target_include_directories(${target} SYSTEM INTERFACE "${${id}_INCLUDE}")
  if(library)
    target_link_libraries(${target} INTERFACE "${${id}_LIBRARY}")
  endif()
endfunction()

miodb_find(PMEM::pmem libpmem.h pmem libpmem-dev REQUIRED)
miodb_find(XXHASH::headers xxhash.h "" libxxhash-dev REQUIRED)
miodb_find(NUMA::numa numaif.h numa libnuma-dev REQUIRED)
miodb_find(URING::uring liburing.h uring liburing-dev REQUIRED)
miodb_find(SNAPPY::snappy snappy.h snappy libsnappy-dev REQUIRED)
miodb_find(ZSTD::zstd zstd.h zstd libzstd-dev REQUIRED)

# What the engine is compiled and linked with, and the flags for who links the static library by hand.
add_library(miodb_needs INTERFACE)
target_link_libraries(miodb_needs INTERFACE PMEM::pmem NUMA::numa URING::uring XXHASH::headers SNAPPY::snappy ZSTD::zstd)
set(miodb_link_names pmem numa uring snappy zstd)
set(miodb_link_flags "-lpmem -lnuma -luring -lsnappy -lzstd -pthread -lstdc++ -lm")
