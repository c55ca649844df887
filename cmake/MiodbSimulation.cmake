# The simulator build: the engine compiled once more, with MIODB_SIMULATOR, so that a simulator of persistent memory
# stands behind src/nvm/persist/persist.h and faults can be planted; and crash_explorer, which is made of it
# (docs/crash_model.md). Nothing else links these objects, so no other program pays for them.

add_library(miodb_sim_engine OBJECT EXCLUDE_FROM_ALL ${miodb_sources})
miodb_batch(miodb_sim_engine)
target_include_directories(miodb_sim_engine PUBLIC "${PROJECT_SOURCE_DIR}" "${PROJECT_SOURCE_DIR}/include")
target_compile_definitions(miodb_sim_engine PUBLIC MIODB_SIMULATOR MIODB_MUTANTS)
target_link_libraries(miodb_sim_engine PUBLIC miodb_compiler miodb_needs Threads::Threads)

file(GLOB simulation_sources CONFIGURE_DEPENDS "tests/simulation/*.cc")
list(FILTER simulation_sources EXCLUDE REGEX "(_test|/crash_explorer)\\.cc$")
add_library(miodb_simulation STATIC EXCLUDE_FROM_ALL ${simulation_sources} $<TARGET_OBJECTS:miodb_sim_engine>)
miodb_precompile(miodb_simulation miodb_precompiled)
miodb_batch(miodb_simulation)
target_link_libraries(miodb_simulation PUBLIC miodb_sim_engine)

add_executable(crash_explorer tests/simulation/crash_explorer.cc benchmarks/common/flags.cc)
target_link_libraries(crash_explorer PRIVATE miodb_simulation)
set_target_properties(crash_explorer PROPERTIES RUNTIME_OUTPUT_DIRECTORY "$<1:${PROJECT_BINARY_DIR}>")

# ---- Its tests: like those of the other folders, but of this build of the engine ----

file(GLOB simulation_tests CONFIGURE_DEPENDS RELATIVE "${PROJECT_SOURCE_DIR}" "tests/simulation/*_test.cc")
foreach(file IN LISTS simulation_tests)
  get_filename_component(name "${file}" NAME_WE)
  add_executable(tests.simulation.${name} "${file}" tests/common/environment.cc tests/common/test_dir.cc)
  miodb_compile_tests(tests.simulation.${name})
  target_link_libraries(tests.simulation.${name} PRIVATE miodb_simulation GTest::gtest_main)
  set_target_properties(tests.simulation.${name}
                        PROPERTIES OUTPUT_NAME ${name}
                                   RUNTIME_OUTPUT_DIRECTORY "$<1:${PROJECT_BINARY_DIR}/tests/simulation>")
  # The explorer's modes beside each other, the longest first: they take minutes at the larger scales.
  set(parts "")
  if(name STREQUAL "explorer_test")
    set(parts short_0 short_1 adr eadr file faults)
  endif()
  set(filter_short_0 "*/adr_0")
  set(filter_short_1 "*/adr_1")
  set(filter_adr "*/adr")
  set(filter_eadr "*/eadr:*/eadr_?")
  set(filter_file "*/file:*/file_?")
  set(filter_faults "-*/adr*:*/eadr*:*/file*")
  foreach(part IN LISTS parts)
    add_test(NAME simulation/${name}.${part} COMMAND tests.simulation.${name} "--gtest_filter=${filter_${part}}"
             WORKING_DIRECTORY "${PROJECT_BINARY_DIR}")
    set_tests_properties(simulation/${name}.${part} PROPERTIES LABELS crash)
  endforeach()
  if(parts)
    set_tests_properties(simulation/${name}.short_0 simulation/${name}.short_1 PROPERTIES COST 1000)
  endif()
  if(NOT parts)
    add_test(NAME simulation/${name} COMMAND tests.simulation.${name} WORKING_DIRECTORY "${PROJECT_BINARY_DIR}")
    set_tests_properties(simulation/${name} PROPERTIES LABELS crash)
  endif()
endforeach()

# ---- Damage tests with faults planted: the target mutant_tests ----
#
# Checks against damage that no crash does are not the explorer's to find. These tests run on an engine that reads
# MIODB_MUTANT, and are to fail: crash_explorer --mutants --programs=mutants/db_offline_damage_test,...

add_library(miodb_mutant_engine OBJECT EXCLUDE_FROM_ALL ${miodb_sources})
miodb_batch(miodb_mutant_engine)
target_include_directories(miodb_mutant_engine PUBLIC "${PROJECT_SOURCE_DIR}" "${PROJECT_SOURCE_DIR}/include")
target_compile_definitions(miodb_mutant_engine PUBLIC MIODB_MUTANTS)
target_link_libraries(miodb_mutant_engine PUBLIC miodb_compiler miodb_needs Threads::Threads)
add_library(miodb_mutants STATIC EXCLUDE_FROM_ALL ${helper_sources} $<TARGET_OBJECTS:miodb_mutant_engine>)
target_link_libraries(miodb_mutants PUBLIC miodb_mutant_engine GTest::gtest)

add_custom_target(mutant_tests)
set(mutant_test_names
    compaction/flush log/file_log_format log/frame_damage log/log_history log/log_piece nvm/pool_damage
    pmtable/pmtable_damage ssd/ssd_store ssd/sst_damage version/manifest version/manifest_damage
    db/read/compaction_filter db/offline/corruption db/offline/damage db/calls/families db/space/file_log
    db/read/kinds db/copy/older_copy db/open/open db/write/optimistic_transaction db/open/regions db/offline/repair
    db/background/ssd db/background/volatile_ssd db/background/expiry db/background/rest db/space/log_hole
    db/faults/power_loss)
foreach(test IN LISTS mutant_test_names)
  string(REPLACE "/" "_" name "${test}")
  add_executable(mutants.${name} EXCLUDE_FROM_ALL tests/${test}_test.cc)
  miodb_compile_tests(mutants.${name})
  target_link_libraries(mutants.${name} PRIVATE miodb_mutants GTest::gtest_main)
  set_target_properties(mutants.${name} PROPERTIES OUTPUT_NAME ${name}_test
                                                   RUNTIME_OUTPUT_DIRECTORY "$<1:${PROJECT_BINARY_DIR}/mutants>")
  if(name STREQUAL "db_faults_power_loss")
    target_link_options(mutants.${name} PRIVATE ${wrapped_calls})
  endif()
  add_dependencies(mutant_tests mutants.${name})
endforeach()
