# The list of parts, fogmarch.cdx.json (CycloneDX 1.5): the libraries that the programs are linked with, in the versions
# of this build, and what the web client bundles. Two builds of the same sources and parts give the same list: it has no
# date and no serial number.
#
# fogmarch_require() gives the modules and Debian packages, clients/package-lock.json the npm packages.
set(licences "libuv=MIT;msgpack=BSL-1.0;libcyaml=ISC;yaml-0.1=MIT;libsodium=ISC;openssl=Apache-2.0;sqlite3=blessing"
  "libzstd=BSD-3-Clause;ncursesw=X11-distribute-modifications-variant;libpng=libpng-2.0;cmocka=Apache-2.0"
  "jemalloc=BSD-2-Clause;zlib=Zlib;libxml-2.0=MIT;jansson=MIT;libseccomp=LGPL-2.1-only;glibc=LGPL-2.1-or-later")
find_program(DPKG_QUERY dpkg-query)
set(parts "")

# Makes the JSON object of one part.
function(fogmarch_part type name version licence purl scope)
  set(text "    {\"type\": \"${type}\", \"bom-ref\": \"${purl}\", \"name\": \"${name}\", \"version\": \"${version}\", ")
  string(APPEND text "\"scope\": \"${scope}\",\n     \"licenses\": [{\"expression\": \"${licence}\"}], \"purl\": \"${purl}\"}")
  list(APPEND parts "${text}")
  set(parts "${parts}" PARENT_SCOPE)
endfunction()

get_property(required GLOBAL PROPERTY FOGMARCH_PARTS)
list(APPEND required "glibc libc6-dev ?")
list(SORT required)
foreach(row ${required})
  separate_arguments(row)
  list(GET row 0 module)
  list(GET row 1 debian)
  list(GET row 2 version)
  set(full "")
  if(DPKG_QUERY)
    execute_process(COMMAND ${DPKG_QUERY} -W -f "\${Version}\n" ${debian} OUTPUT_VARIABLE full ERROR_QUIET)
    string(REGEX MATCH "[^\n]*" full "${full}")
  endif()
  if(version STREQUAL "?")
    string(REGEX MATCH "^[0-9.]+" version "${full}")
  endif()
  string(REGEX MATCH "(^|;)${module}=([^;]*)" found "${licences}")
  set(licence "${CMAKE_MATCH_2}")
  if(licence STREQUAL "")
    set(licence NOASSERTION) # the test package_install fails on this
  endif()
  string(REPLACE "+" "%2B" full "${full}")
  set(scope required)
  if(module STREQUAL cmocka) # only tests use it
    set(scope excluded)
  endif()
  fogmarch_part(library ${module} "${version}" "${licence}" "pkg:deb/debian/${debian}@${full}" ${scope})
endforeach()

set(lock ${CMAKE_SOURCE_DIR}/clients/package-lock.json)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${lock})
file(READ ${lock} lock)
string(JSON packages GET "${lock}" packages)
string(JSON count LENGTH "${packages}")
math(EXPR last "${count} - 1")
foreach(i RANGE ${last})
  string(JSON path MEMBER "${packages}" ${i})
  string(JSON entry GET "${packages}" "${path}")
  string(JSON for_development ERROR_VARIABLE none GET "${entry}" dev)
  string(JSON is_link ERROR_VARIABLE none GET "${entry}" link)
  string(JSON version ERROR_VARIABLE no_version GET "${entry}" version)
  string(JSON licence ERROR_VARIABLE none GET "${entry}" license)
  if(NOT path MATCHES "^node_modules/" OR for_development STREQUAL ON OR is_link STREQUAL ON OR no_version)
    continue()
  endif()
  string(REGEX REPLACE "^.*node_modules/" "" name "${path}")
  string(REPLACE "@" "%40" quoted "${name}")
  fogmarch_part(library "${name}" "${version}" "${licence}" "pkg:npm/${quoted}@${version}" required)
endforeach()

list(JOIN parts ",\n" parts)
set(list_of_parts ${CMAKE_BINARY_DIR}/fogmarch.cdx.json)
file(CONFIGURE OUTPUT ${list_of_parts} @ONLY CONTENT "{
  \"bomFormat\": \"CycloneDX\",
  \"specVersion\": \"1.5\",
  \"version\": 1,
  \"metadata\": {
    \"component\": {\"type\": \"application\", \"name\": \"fogmarch\", \"version\": \"@PROJECT_VERSION@\",
      \"bom-ref\": \"fogmarch\", \"licenses\": [{\"expression\": \"MIT\"}]}
  },
  \"components\": [
@parts@
  ]
}
")
install(FILES ${list_of_parts} DESTINATION ${CMAKE_INSTALL_DATADIR}/fogmarch)
