# Writes OUTPUT, a header that names the commit of SOURCE, unless it is up to date; "unknown" if SOURCE is no
# working copy.
execute_process(COMMAND git -C ${SOURCE} rev-parse --show-toplevel OUTPUT_VARIABLE top RESULT_VARIABLE failed
  OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
execute_process(COMMAND git -C ${SOURCE} rev-parse --short=12 HEAD OUTPUT_VARIABLE commit
  OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
file(REAL_PATH ${SOURCE} SOURCE)
if(NOT failed STREQUAL "0" OR NOT top STREQUAL SOURCE OR commit STREQUAL "") # or a working copy of another project that contains ours
  set(commit unknown)
endif()
set(text "#define FOGMARCH_COMMIT \"${commit}\"\n")
set(before "")
if(EXISTS ${OUTPUT})
  file(READ ${OUTPUT} before)
endif()
if(NOT text STREQUAL before)
  file(WRITE ${OUTPUT} "${text}")
endif()
