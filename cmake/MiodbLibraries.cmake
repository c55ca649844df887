# The libraries: libmiodb, and libleveldb for programs written for LevelDB.
#
# Both are made from the same sources. libleveldb is compiled with the word miodb replaced by leveldb, as the headers in
# include/compat/ do it in programs, so it defines leveldb::DB and so on (docs/leveldb_compat.md says why no alias will
# do). It alone has the C API, whose names are LevelDB's. In the build folder it lies in compat/. The shared one carries
# the name of this project, so at run time nothing takes it for LevelDB's, nor the other way round.

# Defines the libraries <name>_static and <name>_shared from an object library of the engine and further sources.
#   exports   the words of the version script that say what the shared one exports
function(miodb_add_libraries name exports folder output_name)
  add_library(${name}_objects OBJECT ${miodb_sources} ${ARGN})
  set_target_properties(${name}_objects PROPERTIES POSITION_INDEPENDENT_CODE ON CXX_VISIBILITY_PRESET hidden
                                                   VISIBILITY_INLINES_HIDDEN ON)
  target_include_directories(${name}_objects PRIVATE "${PROJECT_SOURCE_DIR}" "${PROJECT_SOURCE_DIR}/include")
  target_compile_definitions(${name}_objects PRIVATE MIODB_VERSION_MAJOR=${PROJECT_VERSION_MAJOR}
                                                     MIODB_VERSION_MINOR=${PROJECT_VERSION_MINOR})
  target_link_libraries(${name}_objects PRIVATE miodb_compiler miodb_needs)
  target_precompile_headers(${name}_objects PRIVATE ${miodb_precompiled_headers} ${miodb_precompiled_own_headers})
  miodb_quieten_precompiled(${name}_objects)
  miodb_batch(${name}_objects)

  add_library(${name}_static STATIC $<TARGET_OBJECTS:${name}_objects>)
  add_library(${name}_shared SHARED $<TARGET_OBJECTS:${name}_objects>)
  foreach(library ${name}_static ${name}_shared)
    add_library(miodb::${library} ALIAS ${library})
    # $<1:...> keeps generators with several configurations from adding a folder of their own.
    set_target_properties(
      ${library}
      PROPERTIES OUTPUT_NAME ${output_name}
                 VERSION ${PROJECT_VERSION}
                 SOVERSION ${PROJECT_VERSION_MAJOR}
                 ARCHIVE_OUTPUT_DIRECTORY "$<1:${PROJECT_BINARY_DIR}${folder}>"
                 LIBRARY_OUTPUT_DIRECTORY "$<1:${PROJECT_BINARY_DIR}${folder}>")
    target_compile_features(${library} PUBLIC cxx_std_11)
    target_include_directories(${library} PUBLIC "$<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>"
                                                 "$<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>")
    target_link_libraries(${library} PRIVATE "$<BUILD_INTERFACE:miodb_needs>" "$<INSTALL_INTERFACE:${miodb_link_names}>"
                                             "$<BUILD_INTERFACE:Threads::Threads>" "$<INSTALL_INTERFACE:-pthread>"
                                             "$<BUILD_INTERFACE:miodb_sanitizer>")
  endforeach()

  # Hidden visibility keeps our own names in; the script also those of the standard library's templates.
  set(script "${PROJECT_BINARY_DIR}/${name}.exports")
  file(CONFIGURE OUTPUT "${script}" CONTENT "${exports}" @ONLY)
  target_link_options(${name}_shared PRIVATE "LINKER:--version-script=${script}")
  set_property(TARGET ${name}_shared APPEND PROPERTY LINK_DEPENDS "${script}")
  if(NOT MIODB_SANITIZE)
    target_link_options(${name}_shared PRIVATE "LINKER:--no-undefined")
  endif()
endfunction()

# Everything of namespace @namespace@ that is visible, what the compiler makes for its classes, and @c_names@.
set(miodb_exports "{
  global:
    extern \"C++\" {
      @namespace@::*;
      vtable?for?@namespace@::*;
      typeinfo?for?@namespace@::*;
      typeinfo?name?for?@namespace@::*;
    };
    @c_names@
  local:
    *;
};
")

set(namespace miodb)
set(c_names "")
miodb_add_libraries(miodb "${miodb_exports}" "" miodb)
add_library(miodb::miodb ALIAS miodb_static)

if(MIODB_BUILD_COMPAT)
  set(namespace leveldb)
  set(c_names "leveldb_*; miodb_*;")
  miodb_add_libraries(miodb_leveldb "${miodb_exports}" /compat miodb_leveldb ${miodb_c_api_sources})
  set_target_properties(miodb_leveldb_static PROPERTIES OUTPUT_NAME leveldb)
  target_compile_definitions(miodb_leveldb_objects PRIVATE miodb=leveldb MIODB_AS_LEVELDB MIODB_BUILDS_LIBRARY)
  target_include_directories(miodb_leveldb_objects PRIVATE "${PROJECT_SOURCE_DIR}/include/compat")
  foreach(library miodb_leveldb_static miodb_leveldb_shared)
    target_include_directories(${library} BEFORE PUBLIC "$<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include/compat>"
                                                 "$<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/miodb/compat>")
  endforeach()
  # What -lleveldb finds.
  add_custom_command(TARGET miodb_leveldb_shared POST_BUILD VERBATIM
                     COMMAND ${CMAKE_COMMAND} -E create_symlink "$<TARGET_SONAME_FILE_NAME:miodb_leveldb_shared>" libleveldb.so
                     WORKING_DIRECTORY "${PROJECT_BINARY_DIR}/compat")
  add_library(miodb::leveldb ALIAS miodb_leveldb_static)
endif()
