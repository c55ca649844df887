# Read by cpack, before it makes the packages: what libmiodb1 depends on, as dpkg-shlibdeps finds it in the libraries.

find_program(shlibdeps dpkg-shlibdeps REQUIRED)
file(MAKE_DIRECTORY "${CPACK_MIODB_SCRATCH}/debian")
file(WRITE "${CPACK_MIODB_SCRATCH}/debian/control" "")  # dpkg-shlibdeps wants one, and nothing in it
execute_process(COMMAND "${shlibdeps}" -O ${CPACK_MIODB_LIBRARIES} WORKING_DIRECTORY "${CPACK_MIODB_SCRATCH}"
                OUTPUT_VARIABLE depends OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
string(REGEX REPLACE "^shlibs:Depends=" "" CPACK_DEBIAN_LIBMIODB1_PACKAGE_DEPENDS "${depends}")
