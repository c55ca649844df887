# Programs in the top of the build folder: db_bench, ycsbc, micro_bench, one for every tools/*.cc, named after it, and
# miodb.

function(miodb_add_program name)
  add_executable(${name} ${ARGN})
  target_include_directories(${name} PRIVATE "${PROJECT_SOURCE_DIR}")
  target_link_libraries(${name} PRIVATE miodb_static miodb_compiler Threads::Threads)
  miodb_precompile(${name} miodb_precompiled)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "$<1:${PROJECT_BINARY_DIR}>")
endfunction()

# ---- What the programs share: engines behind one interface, clock, histogram, flags. ----

file(GLOB_RECURSE bench_common_sources CONFIGURE_DEPENDS "benchmarks/common/*.cc")
add_library(miodb_bench_common STATIC ${bench_common_sources})
miodb_precompile(miodb_bench_common miodb_precompiled)
miodb_batch(miodb_bench_common)
target_include_directories(miodb_bench_common PUBLIC "${PROJECT_SOURCE_DIR}")
target_link_libraries(miodb_bench_common PUBLIC miodb_static ${CMAKE_DL_LIBS} PRIVATE miodb_compiler Threads::Threads)

# Compressors are used when they are there. Each has a definition that the sources ask for.
function(miodb_bench_option name header library package)
  miodb_find(${name} ${header} ${library} ${package})
  if(TARGET ${name})
    target_compile_definitions(miodb_bench_common PUBLIC MIODB_WITH_${name})
    target_link_libraries(miodb_bench_common PUBLIC ${name})
  endif()
endfunction()
miodb_bench_option(SNAPPY snappy.h snappy libsnappy-dev)
miodb_bench_option(ZSTD zstd.h zstd libzstd-dev)

# ---- db_bench and ycsbc. All but the main function of each is a library, which tests of the same name link. ----

function(miodb_add_bench_program name library folder main)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS "${folder}/*.cc")
  list(REMOVE_ITEM sources "${PROJECT_SOURCE_DIR}/${folder}/${main}")
  add_library(${library} STATIC ${sources})
  miodb_precompile(${library} miodb_precompiled)
  miodb_batch(${library})
  target_link_libraries(${library} PUBLIC miodb_bench_common PRIVATE miodb_compiler Threads::Threads)
  miodb_add_program(${name} "${folder}/${main}")
  target_link_libraries(${name} PRIVATE ${library})
endfunction()
miodb_add_bench_program(db_bench miodb_bench benchmarks/db_bench db_bench.cc)
target_link_libraries(miodb_bench PRIVATE XXHASH::headers)
miodb_add_bench_program(ycsbc miodb_ycsbc ycsbc ycsbc.cc)

# ---- micro_bench: single parts of the engine, where Google Benchmark is installed ----

find_package(benchmark QUIET)
if(benchmark_FOUND)
  file(GLOB micro_sources CONFIGURE_DEPENDS "benchmarks/micro/*.cc")
  miodb_add_program(micro_bench ${micro_sources})
  target_link_libraries(micro_bench PRIVATE benchmark::benchmark_main miodb_needs)
else()
  message(STATUS "no micro_bench without Google Benchmark (Debian package libbenchmark-dev)")
endif()

# ---- Costs: of operations, which tools/checks/check_instructions.sh counts; of an open after a crash; of large drops; of
# patterns where log-structured stores are weak;
# of company that a writer has; of a reader; of many databases; of a compressed log; and whether Options::statistics and the counters of stalls agree
# with a clock outside ----

miodb_add_program(operation_cost benchmarks/cost/operation_cost.cc)
miodb_add_program(reopen_cost benchmarks/cost/reopen_cost.cc)
miodb_add_program(drop_cost benchmarks/cost/drop_cost.cc)
miodb_add_program(pattern_cost benchmarks/cost/pattern_cost.cc)
miodb_add_program(companion_cost benchmarks/cost/companion_cost.cc)
miodb_add_program(reader_cost benchmarks/cost/reader_cost.cc)
miodb_add_program(scale_cost benchmarks/cost/scale_cost.cc)
miodb_add_program(many_stores_cost benchmarks/cost/many_stores_cost.cc)
miodb_add_program(log_compression_cost benchmarks/cost/log_compression_cost.cc)
target_link_libraries(log_compression_cost PRIVATE miodb_bench)
miodb_add_program(times_agreement benchmarks/cost/times_agreement.cc)
miodb_add_program(stalls_agreement benchmarks/cost/stalls_agreement.cc)

# ---- Tools ----

file(GLOB tool_sources CONFIGURE_DEPENDS "tools/*.cc")
foreach(source IN LISTS tool_sources)
  get_filename_component(name "${source}" NAME_WE)
  miodb_add_program(${name} "${source}")
endforeach()

# ---- The program of docs/tutorial.md, which tests/scripts/tutorial_test.sh runs ----

miodb_add_program(tutorial examples/tutorial.cc)

# ---- miodb, the tool of operators: tools/miodb, with tools/inspect, which uses the library's inside ----
#
# Of what programs share it takes single files, because the whole brings the other stores with it, which this program
# loads when it is asked to.

file(GLOB_RECURSE miodb_tool_sources CONFIGURE_DEPENDS "tools/miodb/*.cc" "tools/inspect/*.cc")
set(miodb_tool_shared clock/ticks.cc engine_config.cc engines/c_api.cc figures/histogram.cc figures/progress.cc flags.cc
    interrupt.cc library.cc miodb_options.cc peer_flags.cc)
list(TRANSFORM miodb_tool_shared PREPEND "benchmarks/common/")
list(REMOVE_ITEM miodb_tool_sources "${PROJECT_SOURCE_DIR}/tools/miodb/miodb.cc")
add_library(miodb_tool STATIC ${miodb_tool_sources} ${miodb_tool_shared})
miodb_precompile(miodb_tool miodb_precompiled)
miodb_batch(miodb_tool)
target_include_directories(miodb_tool PUBLIC "${PROJECT_SOURCE_DIR}")
miodb_find(EDIT::edit histedit.h edit libedit-dev REQUIRED)  # for the shell
target_link_libraries(miodb_tool PUBLIC miodb_static miodb_needs ${CMAKE_DL_LIBS} PRIVATE miodb_compiler EDIT::edit)
miodb_add_program(miodb tools/miodb/miodb.cc)
target_link_libraries(miodb PRIVATE miodb_tool)

# Other names of it.
set(miodb_tool_links miodb_check miodb_dump miodb_move)
foreach(name IN LISTS miodb_tool_links)
  add_custom_target(${name} ALL COMMAND ${CMAKE_COMMAND} -E create_symlink miodb "${PROJECT_BINARY_DIR}/${name}"
                    DEPENDS miodb)
endforeach()

# ---- trace_analyzer and device_trace. The rest of tools/trace/ is what they share. ----

file(GLOB_RECURSE trace_tool_sources CONFIGURE_DEPENDS "tools/trace/*.cc")
list(FILTER trace_tool_sources EXCLUDE REGEX "/(trace_analyzer|device_trace)\\.cc$")
add_library(miodb_trace_tools STATIC ${trace_tool_sources})
miodb_precompile(miodb_trace_tools miodb_precompiled)
miodb_batch(miodb_trace_tools)
target_link_libraries(miodb_trace_tools PUBLIC miodb_bench_common PRIVATE miodb_compiler Threads::Threads)
foreach(program trace_analyzer device/device_trace)
  get_filename_component(name "${program}" NAME)
  miodb_add_program(${name} "tools/trace/${program}.cc")
  target_link_libraries(${name} PRIVATE miodb_trace_tools)
endforeach()
