# Tests. A file below tests/ is one of these, told apart by its name:
#
#   *_test.cc   a googletest program; ctest runs it under its path without ".cc", e.g. nvm/pool_test
#   *_main.cc   a plain program with its own main(), started by a test (a child to be killed, for example), a script or
#               by hand
#   compat/*_peer_main.cc   the same, built with the real LevelDB, where that is installed, and nothing of ours
#   fuzz/*_fuzz.cc   a libFuzzer target. With MIODB_BUILD_FUZZERS (clang) it is one; else it is linked with
#                    fuzz/driver_main.cc, and ctest runs it over its seed corpus, tests/fuzz/corpus/<name>/
#   *_library.cc   a shared library that a test loads
#   a line of tests/helpers.txt   code that all of them share
#
# Any other *.cc fails the configure step, so that no test is forgotten. A test's label is its first folder when that
# is one of the kinds below, else "unit". Tests in tests/benchmarks/ and tests/ycsbc/ look inside db_bench and ycsbc,
# those in tests/tools/ run the tools; they exist when these do. Programs lie below tests/ in the build folder, but for
# db_stress and log_faults, which lie at its top; tests find each other and files of the tree through
# tests/common/paths.h.
#
# Tests in tests/compat/ are LevelDB programs: they see libleveldb and its headers, of which miodb/c.h is one, and
# nothing else of ours. Where the real LevelDB is installed, each compat/*_contract_test is built with that as well, as
# compat/*_contract_test.peer: what it states is LevelDB's contract only if LevelDB keeps it.

set(test_kinds unit model metamorphic crash stress fuzz regression)

find_package(GTest REQUIRED)

# ---- Sort the files ----

set(helpers_list "${PROJECT_SOURCE_DIR}/tests/helpers.txt")
set(helpers "")
if(EXISTS "${helpers_list}")
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${helpers_list}")
  file(STRINGS "${helpers_list}" helpers REGEX "^[^#]")
endif()

file(GLOB_RECURSE test_files CONFIGURE_DEPENDS RELATIVE "${PROJECT_SOURCE_DIR}/tests" "tests/*.cc")
set(helper_sources "")
set(test_programs "")
set(plain_programs "")
set(peer_programs "")
set(test_modules "")
set(fuzz_targets "")
# The simulator's tests and those of scaling link other builds of the engine: MiodbSimulation, MiodbScaling.
list(FILTER test_files EXCLUDE REGEX "^(simulation|scaling)/")
if(NOT MIODB_BUILD_BENCHMARKS)
  list(FILTER test_files EXCLUDE REGEX "^(benchmarks|tools|ycsbc)/")
endif()
if(NOT MIODB_BUILD_COMPAT)
  list(FILTER test_files EXCLUDE REGEX "^compat/")
endif()
foreach(file IN LISTS test_files)
  if(file IN_LIST helpers)
    list(APPEND helper_sources "tests/${file}")
  elseif(file MATCHES "_test\\.cc$")
    list(APPEND test_programs "${file}")
  elseif(file MATCHES "^fuzz/.*_fuzz\\.cc$")
    list(APPEND fuzz_targets "${file}")
  elseif(file STREQUAL "fuzz/driver_main.cc")
    # Linked with every target.
  elseif(file MATCHES "^compat/.*_peer_main\\.cc$")
    list(APPEND peer_programs "${file}")
  elseif(file MATCHES "_main\\.cc$")
    list(APPEND plain_programs "${file}")
  elseif(file MATCHES "_library\\.cc$")
    list(APPEND test_modules "${file}")
  else()
    message(FATAL_ERROR "tests/${file} would never run: name it *_test.cc (googletest program) or *_main.cc (program "
                        "that a test starts), or list it in tests/helpers.txt (code that tests share)")
  endif()
endforeach()
foreach(helper IN LISTS helpers)
  if(NOT helper IN_LIST test_files)
    message(FATAL_ERROR "tests/helpers.txt lists ${helper}, which does not exist")
  endif()
endforeach()

# ---- What all of them are built with ----

set_source_files_properties(tests/common/paths.cc PROPERTIES COMPILE_DEFINITIONS
  "MIODB_TEST_SOURCE_DIR=\"${PROJECT_SOURCE_DIR}\";MIODB_TEST_BINARY_DIR=\"${PROJECT_BINARY_DIR}\"")
add_library(miodb_test_base INTERFACE)
target_include_directories(miodb_test_base INTERFACE "${PROJECT_SOURCE_DIR}")
target_link_libraries(miodb_test_base INTERFACE miodb_static miodb_compiler miodb_needs Threads::Threads)
set(test_libraries miodb_test_base)
miodb_precompiled_set(miodb_precompiled_for_tests "<filesystem>;<fstream>;<gtest/gtest.h>;<sstream>" GTest::gtest)
miodb_compile_fast(miodb_precompiled_for_tests)
if(helper_sources)
  add_library(miodb_test_helpers STATIC ${helper_sources})
  miodb_compile_tests(miodb_test_helpers)
  target_link_libraries(miodb_test_helpers PUBLIC miodb_test_base GTest::gtest)
  list(PREPEND test_libraries miodb_test_helpers)
endif()

# What LevelDB programs are built with: ours, and the real one if it is there.
foreach(compat miodb_test_compat miodb_test_peer)
  add_library(${compat} INTERFACE)
  target_include_directories(${compat} INTERFACE "${PROJECT_SOURCE_DIR}")
  target_link_libraries(${compat} INTERFACE miodb_compiler Threads::Threads GTest::gtest)
endforeach()
if(MIODB_BUILD_COMPAT)
  target_link_libraries(miodb_test_compat INTERFACE miodb_leveldb_static)
endif()
miodb_find(MIODB_PEER_LEVELDB leveldb/db.h leveldb libleveldb-dev)
if(TARGET MIODB_PEER_LEVELDB)
  # NewMemEnv; in the package of LevelDB's headers.
  find_library(MIODB_PEER_MEMENV memenv REQUIRED)
  target_link_libraries(miodb_test_peer INTERFACE "${MIODB_PEER_MEMENV}" MIODB_PEER_LEVELDB)
endif()

# Tests beside the peers themselves, whose libraries our programs load when they are asked to.
miodb_find(ROCKSDB rocksdb/db.h rocksdb librocksdb-dev)
set(tests_beside_peers benchmarks/rocksdb_peer_test.cc benchmarks/rocksdb_batch_peer_test.cc tools/miodb_import_test.cc)

# Defines the program of tests/<file> and stores its target name in *target_name.
function(miodb_add_test_program file target_name)
  string(REGEX REPLACE "\\.cc$" "" path "${file}")
  get_filename_component(folder "${path}" DIRECTORY)
  get_filename_component(name "${path}" NAME)
  string(REPLACE "/" "." target "tests.${path}")
  add_executable(${target} "tests/${file}")
  miodb_compile_tests(${target})
  if(folder STREQUAL "compat")
    target_link_libraries(${target} PRIVATE miodb_test_compat)
  else()
    target_link_libraries(${target} PRIVATE ${test_libraries})
  endif()
  set_target_properties(${target} PROPERTIES OUTPUT_NAME "${name}"
                                             RUNTIME_OUTPUT_DIRECTORY "$<1:${PROJECT_BINARY_DIR}/tests/${folder}>")
  if(folder STREQUAL "benchmarks")
    target_link_libraries(${target} PRIVATE miodb_bench)
    add_dependencies(${target} db_bench)
  elseif(folder STREQUAL "tools")
    target_link_libraries(${target} PRIVATE miodb_trace_tools miodb_tool)
    add_dependencies(${target} miodb miodb_check miodb_dump miodb_move trace_analyzer device_trace key_space db_bench)
  elseif(folder STREQUAL "ycsbc")
    target_link_libraries(${target} PRIVATE miodb_ycsbc)
    add_dependencies(${target} ycsbc)
  endif()
  if(file IN_LIST tests_beside_peers)
    foreach(peer LEVELDB ROCKSDB)
      set(library "${peer}")
      if(peer STREQUAL "LEVELDB")
        set(library MIODB_PEER_LEVELDB)
      endif()
      if(TARGET ${library})
        target_link_libraries(${target} PRIVATE ${library})
        target_compile_definitions(${target} PRIVATE MIODB_WITH_${peer})
      endif()
    endforeach()
  endif()
  set(${target_name} ${target} PARENT_SCOPE)
endfunction()

foreach(file IN LISTS plain_programs)
  miodb_add_test_program("${file}" target)
endforeach()

foreach(file IN LISTS test_modules)
  string(REGEX REPLACE "\\.cc$" "" path "${file}")
  get_filename_component(folder "${path}" DIRECTORY)
  get_filename_component(name "${path}" NAME)
  add_library(tests.${name} MODULE "tests/${file}")
  target_link_libraries(tests.${name} PRIVATE miodb_compiler)
  set_target_properties(tests.${name} PROPERTIES OUTPUT_NAME "${name}" PREFIX ""
                                                 LIBRARY_OUTPUT_DIRECTORY "$<1:${PROJECT_BINARY_DIR}/tests/${folder}>")
endforeach()

if(TARGET MIODB_PEER_LEVELDB AND NOT MIODB_SANITIZE)
  foreach(file IN LISTS peer_programs)
    get_filename_component(name "${file}" NAME_WE)
    add_executable(tests.compat.${name} "tests/${file}")
    target_link_libraries(tests.compat.${name} PRIVATE MIODB_PEER_LEVELDB miodb_compiler Threads::Threads)
    set_target_properties(tests.compat.${name} PROPERTIES OUTPUT_NAME "${name}"
                                               RUNTIME_OUTPUT_DIRECTORY "$<1:${PROJECT_BINARY_DIR}/tests/compat>")
  endforeach()
endif()

# db_stress and log_faults are also programs for people, so they lie in the top of the build folder.
foreach(program stress.db_stress.db_stress log.log_faults)
  string(REGEX REPLACE ".*\\." "" name "${program}")
  set_target_properties(tests.${program}_main PROPERTIES OUTPUT_NAME ${name}
                                                         RUNTIME_OUTPUT_DIRECTORY "$<1:${PROJECT_BINARY_DIR}>")
  target_sources(tests.${program}_main PRIVATE benchmarks/common/flags.cc)
endforeach()
target_sources(tests.stress.db_stress.db_stress_main PRIVATE benchmarks/common/interrupt.cc)

foreach(file IN LISTS test_programs)
  miodb_add_test_program("${file}" target)
  target_link_libraries(${target} PRIVATE GTest::gtest_main)
  string(REGEX REPLACE "\\.cc$" "" name "${file}")
  string(REGEX REPLACE "/.*" "" kind "${file}")
  if(NOT kind IN_LIST test_kinds)
    set(kind unit)
  endif()
  add_test(NAME "${name}" COMMAND ${target} WORKING_DIRECTORY "${PROJECT_BINARY_DIR}")
  set_tests_properties("${name}" PROPERTIES LABELS ${kind})
  if(kind STREQUAL "stress")
    set_tests_properties("${name}" PROPERTIES PROCESSORS 2)
  endif()
  if(file MATCHES "^compat/.*_contract_test\\.cc$" AND TARGET MIODB_PEER_LEVELDB AND NOT MIODB_SANITIZE)
    add_executable(${target}.peer "tests/${file}")
    target_link_libraries(${target}.peer PRIVATE miodb_test_peer GTest::gtest_main)
    get_filename_component(peer "${name}.peer" NAME)
    set_target_properties(${target}.peer PROPERTIES OUTPUT_NAME "${peer}"
                                                    RUNTIME_OUTPUT_DIRECTORY "$<1:${PROJECT_BINARY_DIR}/tests/compat>")
    add_test(NAME "${name}.peer" COMMAND ${target}.peer WORKING_DIRECTORY "${PROJECT_BINARY_DIR}")
    set_tests_properties("${name}.peer" PROPERTIES LABELS unit)
  endif()
endforeach()

foreach(file IN LISTS fuzz_targets)
  miodb_add_test_program("${file}" target)
  string(REGEX REPLACE "\\.cc$" "" name "${file}")
  string(REGEX REPLACE "^fuzz/(.*)_fuzz\\.cc$" "\\1" corpus "${file}")
  if(NOT EXISTS "${PROJECT_SOURCE_DIR}/tests/fuzz/corpus/${corpus}")
    message(FATAL_ERROR "tests/${file} has no seed corpus: tests/fuzz/corpus/${corpus}/. Run tests/fuzz/corpus_main.")
  endif()
  if(MIODB_BUILD_FUZZERS)
    target_link_options(${target} PRIVATE -fsanitize=fuzzer)
  else()
    target_sources(${target} PRIVATE tests/fuzz/driver_main.cc)
    add_test(NAME "${name}" COMMAND ${target} "${PROJECT_SOURCE_DIR}/tests/fuzz/corpus/${corpus}"
             WORKING_DIRECTORY "${PROJECT_BINARY_DIR}")
    set_tests_properties("${name}" PROPERTIES LABELS fuzz)
  endif()
endforeach()

# Scripts have tests in bash: scripts/*_test.sh.
file(GLOB script_tests CONFIGURE_DEPENDS RELATIVE "${PROJECT_SOURCE_DIR}/tests" "tests/scripts/*_test.sh")
foreach(file IN LISTS script_tests)
  string(REGEX REPLACE "\\.sh$" "" name "${file}")
  add_test(NAME "${name}" COMMAND bash "${PROJECT_SOURCE_DIR}/tests/${file}" WORKING_DIRECTORY "${PROJECT_BINARY_DIR}")
  # Status 77: what it tests needs a program that is not installed, which it says.
  set_tests_properties("${name}" PROPERTIES LABELS unit SKIP_RETURN_CODE 77)
endforeach()

if(MIODB_BUILD_BENCHMARKS)
  add_dependencies(tests.benchmarks.questions_test tests.faulty_library)
  add_dependencies(tests.tools.miodb_import_test tests.faulty_library)
endif()

# Tests that watch system calls or make them fail: the linker sends the library's calls through tests/faults/system_calls.cc.
set(wrapped_calls open mkdir rmdir unlink link rename renameat2 stat fstat fstatvfs fstatfs statfs flock ftruncate
                  posix_fallocate fallocate mmap mbind msync madvise fsync fdatasync close write read pread pwrite)
list(TRANSFORM wrapped_calls PREPEND "LINKER:--wrap=")
foreach(target db.faults.address_space_test db.faults.cut_off_test db.faults.file_faults_test db.faults.power_loss_test
               db.open.beside_test numa.numa_test nvm.file_calls_test
               nvm.persist_calls_test)
  target_link_options(tests.${target} PRIVATE ${wrapped_calls})
endforeach()

# ---- The example of README.md: its first ```cpp block compiles and runs ----

set(readme "${PROJECT_SOURCE_DIR}/README.md")
if(EXISTS "${readme}")
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${readme}")
  file(READ "${readme}" text)
  string(FIND "${text}" "```cpp\n" begin)
  if(begin GREATER -1)
    math(EXPR begin "${begin} + 7")
    string(SUBSTRING "${text}" ${begin} -1 text)
    string(FIND "${text}" "\n```" end)
    if(end EQUAL -1)
      message(FATAL_ERROR "README.md: the first cpp block has no end")
    endif()
    string(SUBSTRING "${text}" 0 ${end} text)
    set(example "${PROJECT_BINARY_DIR}/readme_example.cc")
    file(WRITE "${example}.new" "${text}\n")
    configure_file("${example}.new" "${example}" COPYONLY)
    add_executable(readme_example "${example}")
    target_link_libraries(readme_example PRIVATE miodb::miodb miodb_compiler)
    set_target_properties(readme_example PROPERTIES RUNTIME_OUTPUT_DIRECTORY "$<1:${PROJECT_BINARY_DIR}/tests>")
    set(example_dir "${PROJECT_BINARY_DIR}/readme_example_run")
    file(MAKE_DIRECTORY "${example_dir}")
    add_test(NAME readme_example COMMAND readme_example WORKING_DIRECTORY "${example_dir}")
    set_tests_properties(readme_example PROPERTIES LABELS unit)
  endif()
endif()
