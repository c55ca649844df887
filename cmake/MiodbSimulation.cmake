# The simulator build: the engine compiled once more, with MIODB_SIMULATOR, so that a simulator of persistent memory
# stands behind src/nvm/persist.h and faults can be planted; and crash_explorer, which is made of it
# (docs/crash_model.md). Nothing else links these objects, so no other program pays for them.

add_library(miodb_sim_engine OBJECT EXCLUDE_FROM_ALL ${miodb_sources})
target_include_directories(miodb_sim_engine PUBLIC "${PROJECT_SOURCE_DIR}" "${PROJECT_SOURCE_DIR}/include")
target_compile_definitions(miodb_sim_engine PUBLIC MIODB_SIMULATOR MIODB_MUTANTS)
target_link_libraries(miodb_sim_engine PUBLIC miodb_compiler PMEM::pmem XXHASH::headers Threads::Threads)

file(GLOB simulation_sources CONFIGURE_DEPENDS "tests/simulation/*.cc")
list(FILTER simulation_sources EXCLUDE REGEX "(_test|/crash_explorer)\\.cc$")
add_library(miodb_simulation STATIC EXCLUDE_FROM_ALL ${simulation_sources} $<TARGET_OBJECTS:miodb_sim_engine>)
target_link_libraries(miodb_simulation PUBLIC miodb_sim_engine)

add_executable(crash_explorer tests/simulation/crash_explorer.cc)
target_link_libraries(crash_explorer PRIVATE miodb_simulation)
set_target_properties(crash_explorer PROPERTIES RUNTIME_OUTPUT_DIRECTORY "$<1:${PROJECT_BINARY_DIR}>")
