# Debian packages, by `cpack` in the build folder: fogmarch (programs, service), libfogmarch0.1 and libfogmarch-dev.
set(debian ${CMAKE_CURRENT_SOURCE_DIR}/package)
string(REGEX MATCH "^[0-9]+\\.[0-9]+" interface ${PROJECT_VERSION})
set(library_package libfogmarch${interface})

# The service's settings; only the package puts them into /etc.
install(FILES match-server.yaml DESTINATION /etc/fogmarch RENAME fogmarchd.yaml COMPONENT service EXCLUDE_FROM_ALL)

set(FOGMARCH_MAINTAINER "the fogmarch maintainers <fogmarch@localhost>" CACHE STRING "Whom users of a package write to")

# Debian requires of every package: the copyright file and the changelog.
set(made ${CMAKE_CURRENT_BINARY_DIR}/debian)
file(READ ${CMAKE_SOURCE_DIR}/LICENSE licence)
string(STRIP "${licence}" licence)
string(REPLACE "\n\n" "\n.\n" licence "${licence}")
string(REPLACE "\n" "\n " licence "${licence}")
configure_file(${debian}/copyright.in ${made}/copyright @ONLY)
configure_file(${debian}/changelog.in ${made}/changelog @ONLY)
find_program(GZIP gzip REQUIRED)
execute_process(COMMAND ${GZIP} -9nkf ${made}/changelog COMMAND_ERROR_IS_FATAL ANY)
foreach(name fogmarch ${library_package} libfogmarch-dev)
  set(component_of_fogmarch service)
  set(component_of_${library_package} runtime-doc)
  set(component_of_libfogmarch-dev development-doc)
  install(FILES ${made}/copyright ${made}/changelog.gz DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/${name}
    COMPONENT ${component_of_${name}} EXCLUDE_FROM_ALL)
  install(FILES package/lintian-overrides DESTINATION ${CMAKE_INSTALL_DATADIR}/lintian/overrides RENAME ${name}
    COMPONENT ${component_of_${name}} EXCLUDE_FROM_ALL)
endforeach()

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME fogmarch)
set(CPACK_PACKAGE_VENDOR fogmarch)
set(CPACK_PACKAGE_CONTACT "${FOGMARCH_MAINTAINER}")
set(CPACK_SET_DESTDIR ON) # needed to install into /etc
set(CPACK_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_OUTPUT_FILE_PREFIX ${CMAKE_BINARY_DIR}/packages)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
  OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)

set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_GROUPING ONE_PER_GROUP)
set(CPACK_COMPONENTS_ALL programs service runtime runtime-doc development development-doc)
set(CPACK_COMPONENT_PROGRAMS_GROUP server)
set(CPACK_COMPONENT_SERVICE_GROUP server)
set(CPACK_COMPONENT_RUNTIME_GROUP library)
set(CPACK_COMPONENT_RUNTIME-DOC_GROUP library)
set(CPACK_COMPONENT_DEVELOPMENT_GROUP development)
set(CPACK_COMPONENT_DEVELOPMENT-DOC_GROUP development)

set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_SERVER_PACKAGE_NAME fogmarch)
set(CPACK_DEBIAN_SERVER_PACKAGE_SECTION net)
set(CPACK_DEBIAN_SERVER_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_SERVER_PACKAGE_DEPENDS "adduser")
# fogmarch-load --cluster is a script that starts nodes and etcd.
set(CPACK_DEBIAN_SERVER_PACKAGE_SUGGESTS "prometheus, python3, python3-msgpack, etcd-server")
set(CPACK_DEBIAN_SERVER_DESCRIPTION "pathfinding server for multiplayer RTS games
fogmarchd moves tens of thousands of agents through terrain that their teams
do not know yet, within a fixed time per tick. With it come the command line
client fogmarch, the load generator fogmarch-load and the laboratory
fogmarch-lab.")
set(CPACK_DEBIAN_SERVER_PACKAGE_CONTROL_EXTRA
  ${debian}/postinst ${debian}/prerm ${debian}/postrm ${debian}/conffiles)
set(CPACK_DEBIAN_LIBRARY_PACKAGE_NAME ${library_package})
set(CPACK_DEBIAN_LIBRARY_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_LIBRARY_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_LIBRARY_PACKAGE_CONTROL_EXTRA ${made}/shlibs ${debian}/triggers)
file(WRITE ${made}/shlibs "libfogmarch ${interface} ${library_package} (>= ${PROJECT_VERSION})\n")
set(CPACK_DEBIAN_LIBRARY_DESCRIPTION "client library of the pathfinding server fogmarch
A connection to fogmarchd for games in C and C++: requests and their answers,
and a mirror of what a team sees.")
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME libfogmarch-dev)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS
  "${library_package} (= ${PROJECT_VERSION}), libmsgpack-dev, libssl-dev")
set(CPACK_DEBIAN_DEVELOPMENT_DESCRIPTION "client library of the pathfinding server fogmarch, to build with
Headers, the static library, and what CMake and pkg-config need to find them.")
include(CPack)
