# The licence of xxHash, whose header is compiled into the engine, as its head has it.
#
#   miodb_xxhash_license(FILE)   writes the text to FILE

function(miodb_xxhash_license file)
  find_path(XXHASH_INCLUDE xxhash.h REQUIRED)
  mark_as_advanced(XXHASH_INCLUDE)
  file(READ "${XXHASH_INCLUDE}/xxhash.h" head LIMIT 8192)
  string(FIND "${head}" "*/" end)
  string(SUBSTRING "${head}" 0 ${end} head)
  string(REGEX REPLACE "\n[ /]*\\*[ ]?" "\n" head "\n${head}")
  string(STRIP "${head}" head)
  if(NOT head MATCHES "Redistribution")
    message(FATAL_ERROR "${XXHASH_INCLUDE}/xxhash.h does not begin with its licence")
  endif()
  file(WRITE "${file}" "${head}\n")
endfunction()
