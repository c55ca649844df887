# Precompiled headers: the standard library's, of which most files read more than of anything else, and for the engine
# those of its own that more than a third of its files read.
#
# A source file that forgot a header is an error only in a build without them: CI's build with clang is one
# (CMAKE_DISABLE_PRECOMPILE_HEADERS). A compiler cache keeps nothing that was compiled with one, so where there is a
# launcher there are none; CMAKE_DISABLE_PRECOMPILE_HEADERS says the same for any build.

if(CMAKE_CXX_COMPILER_LAUNCHER AND NOT DEFINED CMAKE_DISABLE_PRECOMPILE_HEADERS)
  set(CMAKE_DISABLE_PRECOMPILE_HEADERS ON)
endif()

set(miodb_precompiled_headers
    <algorithm> <array> <atomic> <bit> <cerrno> <chrono> <condition_variable> <cstddef> <cstdint> <cstdio> <cstdlib>
    <cstring> <deque> <functional> <limits> <map> <memory> <mutex> <optional> <set> <span> <string> <string_view>
    <thread> <tuple> <type_traits> <unordered_map> <utility> <vector>)

set(miodb_precompiled_own_headers "${PROJECT_SOURCE_DIR}/include/miodb/options.h" "${PROJECT_SOURCE_DIR}/src/nvm/pool/pool.h"
    "${PROJECT_SOURCE_DIR}/src/ssd/ssd_store.h" "${PROJECT_SOURCE_DIR}/src/util/bytes/hash.h")

# Defines a set of headers: these and further ones. Targets of the same compiler flags share it; they may have more
# definitions than what it links.
function(miodb_precompiled_set set headers)
  set(source "${PROJECT_BINARY_DIR}/${set}.cc")
  file(CONFIGURE OUTPUT "${source}" CONTENT "")
  add_library(${set} OBJECT EXCLUDE_FROM_ALL "${source}")
  target_link_libraries(${set} PRIVATE miodb_compiler Threads::Threads ${ARGN})
  target_precompile_headers(${set} PRIVATE ${miodb_precompiled_headers} ${headers})
endfunction()

# Compiles a target with a set. From a precompiled header gcc no longer knows which code is the standard library's own, and
# warns of what it would else be silent about.
function(miodb_precompile target set)
  target_precompile_headers(${target} REUSE_FROM ${set})
  miodb_quieten_precompiled(${target})
endfunction()

function(miodb_quieten_precompiled target)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND NOT CMAKE_DISABLE_PRECOMPILE_HEADERS)
    target_compile_options(${target} PRIVATE -Wno-array-bounds -Wno-stringop-overflow -Wno-stringop-overread -Wno-restrict)
  endif()
endfunction()

# What tests spend their time in is the engine, so their own code is compiled in less time rather than to run in less.
function(miodb_compile_fast target)
  target_compile_options(${target} PRIVATE "$<$<CONFIG:Release>:-O1>")
endfunction()

# Compiles a target of the tests.
function(miodb_compile_tests target)
  miodb_compile_fast(${target})
  miodb_precompile(${target} miodb_precompiled_for_tests)
endfunction()

# Compiles the sources of a library in batches, each as one file, which takes half the time: what headers cost is paid
# once a batch. Names in unnamed namespaces have to differ for that, so what two files call by one name is one thing, or
# gets two names. MIODB_BATCHED=OFF compiles each file alone, which without precompiled headers finds includes that a file
# forgot.
function(miodb_batch target)
  set_target_properties(${target} PROPERTIES UNITY_BUILD ${MIODB_BATCHED} UNITY_BUILD_BATCH_SIZE 12)
endfunction()

# What puts, gets and iterators run is compiled alone nevertheless: what the compiler takes inline would else depend on
# the neighbours in the batch, and instructions are held to figures. tests/scaling has these files instrumented.
file(GLOB miodb_hot_sources CONFIGURE_DEPENDS RELATIVE "${PROJECT_SOURCE_DIR}"
     src/api/types/status.cc src/db/write/write_*.cc src/db/*/read_*.cc src/db/read/multi_get.cc
     src/db/read/pool_search.cc src/db/read/db_iter.cc src/db/open/db_impl.cc src/memtable/*.cc src/log/frame_writer.cc
     src/nvm/persist/persist.cc src/iterator/*.cc pmtable/*.cc)
set_source_files_properties(${miodb_hot_sources} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)

miodb_precompiled_set(miodb_precompiled "")
