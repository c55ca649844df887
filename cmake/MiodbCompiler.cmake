# Language level, build type, warnings and sanitizers.
#
# miodb_compiler is what everything of ours is compiled with; miodb_sanitizer is the part of it that also has to reach
# the linker. Nothing here depends on the machine that builds: no -march=native. Code that wants newer instructions
# asks for them per function and finds out at run time.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

if(NOT CMAKE_CXX_COMPILER_ID MATCHES "^(GNU|Clang|AppleClang)$")
  message(FATAL_ERROR "MioDB builds with gcc or clang; this compiler is ${CMAKE_CXX_COMPILER_ID}")
endif()

get_property(is_multi_config GLOBAL PROPERTY GENERATOR_IS_MULTI_CONFIG)
if(NOT CMAKE_BUILD_TYPE AND NOT is_multi_config)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Release, Debug or RelWithDebInfo" FORCE)
endif()
# -O2 rather than CMake's -O3: distributions build with it, so figures compare with the packaged peers.
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -DNDEBUG")

set(sanitizer_flags "")
if(MIODB_SANITIZE)
  foreach(name IN LISTS MIODB_SANITIZE)
    if(NOT name MATCHES "^(address|undefined|thread)$")
      message(FATAL_ERROR "MIODB_SANITIZE: unknown sanitizer \"${name}\"; known are address, undefined and thread")
    endif()
  endforeach()
  if("thread" IN_LIST MIODB_SANITIZE AND "address" IN_LIST MIODB_SANITIZE)
    message(FATAL_ERROR "MIODB_SANITIZE: thread and address exclude each other")
  endif()
  list(JOIN MIODB_SANITIZE "," sanitizer_names)
  set(sanitizer_flags -fsanitize=${sanitizer_names} -fno-sanitize-recover=all)
endif()

add_library(miodb_sanitizer INTERFACE)
target_compile_options(miodb_sanitizer INTERFACE ${sanitizer_flags})
target_link_options(miodb_sanitizer INTERFACE ${sanitizer_flags})

add_library(miodb_compiler INTERFACE)
target_link_libraries(miodb_compiler INTERFACE miodb_sanitizer)
target_compile_options(miodb_compiler INTERFACE -Wall -Wextra -Wshadow)
if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  target_compile_options(miodb_compiler INTERFACE -Wthread-safety)
endif()
if(MIODB_WERROR)
  target_compile_options(miodb_compiler INTERFACE -Werror)
endif()
if(MIODB_SANITIZE)
  # Readable stacks at a speed that lets every test run. Line tables are all the debug information that reports use.
  target_compile_options(miodb_compiler INTERFACE -O1 -g1 -fno-omit-frame-pointer)
endif()
if(MIODB_BUILD_FUZZERS)
  if(NOT CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    message(FATAL_ERROR "MIODB_BUILD_FUZZERS needs clang; this compiler is ${CMAKE_CXX_COMPILER_ID}")
  endif()
  target_compile_options(miodb_compiler INTERFACE -fsanitize=fuzzer-no-link)
endif()
if("thread" IN_LIST MIODB_SANITIZE AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # ThreadSanitizer does not model std::atomic_thread_fence, and gcc says so at every use.
  target_compile_options(miodb_compiler INTERFACE -Wno-tsan)
endif()
