# tests/scaling: the paths of reads and writes compiled once more, with the compiler's callbacks for memory accesses and
# our own functions behind them, so that a test can list the cache lines that calls share. Everything else comes from the
# library. Where the compiler has no such callbacks, or another sanitizer has them, the test says so and is skipped.

add_library(miodb_scaling_tests OBJECT EXCLUDE_FROM_ALL tests/scaling/access_recorder.cc tests/scaling/conflicts_test.cc)
target_link_libraries(miodb_scaling_tests PUBLIC miodb_test_base GTest::gtest)
add_executable(tests.scaling.conflicts_test ${miodb_hot_sources})
target_link_libraries(tests.scaling.conflicts_test PRIVATE miodb_scaling_tests miodb_test_helpers miodb_test_base
                                                           GTest::gtest_main)
set_target_properties(tests.scaling.conflicts_test
                      PROPERTIES OUTPUT_NAME conflicts_test
                                 RUNTIME_OUTPUT_DIRECTORY "$<1:${PROJECT_BINARY_DIR}/tests/scaling>")
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND NOT MIODB_SANITIZE)
  target_compile_options(tests.scaling.conflicts_test PRIVATE -fsanitize=thread -Wno-tsan)
endif()
foreach(call memcpy memmove memset memcmp pmem_memcpy)
  target_link_options(tests.scaling.conflicts_test PRIVATE "-Wl,--wrap=${call}")
endforeach()
add_test(NAME scaling/conflicts_test COMMAND tests.scaling.conflicts_test WORKING_DIRECTORY "${PROJECT_BINARY_DIR}")
