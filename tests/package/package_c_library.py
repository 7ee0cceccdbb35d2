"""The C library as a game uses it: installed, or built with the game, as clients/c/README.md says.

Goal    The example compiles without a warning in C and in C++, links with the library alone, and works: through
        pkg-config (shared and static), find_package, add_subdirectory and FetchContent; through pkg-config and
        find_package also in a folder with a space in its name. Only what the headers declare is exported.
Method  The component is installed into an empty folder; programs and CMakeLists.txt are cut out of the page. A
        real server has the world that the page names. The program of each way follows a unit to its goal.
"""

import contextlib
import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../e2e"))
from fogmarch_server import Server  # noqa: E402
from support import SOURCE, examples, run, write  # noqa: E402

PAGE = "clients/c/README.md"
BUILD = sys.argv[1]
WARN = ["-Wall", "-Wextra", "-Wshadow", "-pedantic", "-Werror"]


# Finds the library by CMake's own module for pkg-config.
BY_MODULE = """cmake_minimum_required(VERSION 3.16)
project(march C)
find_package(PkgConfig REQUIRED)
pkg_check_modules(fogmarch REQUIRED IMPORTED_TARGET fogmarch)
add_executable(march march.c)
target_link_libraries(march PRIVATE PkgConfig::fogmarch)
"""


def pkgconfig_in(prefix):
    found = subprocess.run(["find", prefix, "-name", "pkgconfig"], stdout=subprocess.PIPE, text=True)
    return found.stdout.strip()


class Tries:
    def __init__(self, folder, server):
        self.folder, self.server, self.count = folder, server, 0
        self.prefix = os.path.join(folder, "prefix")
        for component in ("runtime", "development"):
            run("cmake", "--install", BUILD, "--prefix", self.prefix, "--component", component)
        [self.program] = examples(PAGE, "c")
        self.pkgconfig = pkgconfig_in(self.prefix)
        self.libraries = os.path.dirname(self.pkgconfig)

    def project(self, name):
        """An empty folder with the program, as C and as C++."""
        folder = os.path.join(self.folder, name)
        write(os.path.join(folder, "march.c"), self.program)
        write(os.path.join(folder, "march.cc"), self.program)
        return folder

    def marches(self, program, **environment):
        """Sends the units back to their start, then runs a program, whose unit must reach its goal."""
        with contextlib.closing(self.server.connect()) as client:
            client.call("agent.order", world=1, agents=[1, 2, 3], kind="move", goal=[68, 97])
        said = run(program, f"127.0.0.1:{self.server.port}", environment=environment)
        assert re.search(r"^tick \d+: agent 1 is at 77,101$", said, re.M), said
        self.count += 1

    def pkg_config(self):
        folder = self.project("pkg-config")
        lines = [line for block in examples(PAGE, "sh") for line in block.splitlines()]
        assert len(lines) == 3, lines
        for line in lines:
            compiler, rest = line.split(" ", 1)
            run("bash", "-c", " ".join([compiler, *WARN, rest, f"-L{self.libraries}"]), cwd=folder,
                environment={"PKG_CONFIG_PATH": self.pkgconfig})
        self.marches(os.path.join(folder, "march"), LD_LIBRARY_PATH=self.libraries)
        self.marches(os.path.join(folder, "march-cc"), LD_LIBRARY_PATH=self.libraries)
        self.marches(os.path.join(folder, "march-static"))

    def in_a_folder_with_a_space(self):
        prefix = os.path.join(self.folder, "a prefix")
        shutil.copytree(self.prefix, prefix, symlinks=True)
        pkgconfig = pkgconfig_in(prefix)
        folder = self.project("pkg-config with a space")
        with open(os.path.join(SOURCE, PAGE), encoding="utf-8") as page:
            [line] = re.findall(r"^    (pkg-config .* [|] xargs cc .*)$", page.read(), re.M)
        for one in (line, 'eval "cc march.c -o march-eval $(pkg-config --cflags --libs fogmarch)"'):
            run("bash", "-c", one, cwd=folder, environment={"PKG_CONFIG_PATH": pkgconfig})
        for program in ("march", "march-eval"):
            self.marches(os.path.join(folder, program), LD_LIBRARY_PATH=os.path.dirname(pkgconfig))
        os.environ["PKG_CONFIG_PATH"] = pkgconfig
        self.cmake("by module", BY_MODULE, "C", "march.c")
        del os.environ["PKG_CONFIG_PATH"]
        installed = examples(PAGE, "cmake")[0]
        self.cmake("installed with a space", installed, "C", "march.c", f"-DCMAKE_PREFIX_PATH={prefix}")

    def cmake(self, name, text, language, source, *options):
        folder = self.project(name)
        text = text.replace("march C)", f"march {language})").replace("march march.c)", f"march {source})")
        write(os.path.join(folder, "CMakeLists.txt"), text)
        if not os.path.exists(os.path.join(folder, "fogmarch")):
            os.symlink(SOURCE, os.path.join(folder, "fogmarch"))
        flags = " ".join(WARN)
        build = os.path.join(folder, f"build-{source}")
        run("cmake", "-S", folder, "-B", build, "-G", "Ninja", f"-DCMAKE_C_FLAGS={flags}", f"-DCMAKE_CXX_FLAGS={flags}",
            *options)
        run("cmake", "--build", build, "--", "-j2")
        self.marches(os.path.join(build, "march"))

    def cmake_ways(self):
        installed, subdirectory, fetched = examples(PAGE, "cmake")
        prefix = f"-DCMAKE_PREFIX_PATH={self.prefix}"
        self.cmake("installed", installed, "C", "march.c", prefix)
        self.cmake("installed", installed, "CXX", "march.cc", prefix, "-DBUILD_SHARED_LIBS=OFF")
        self.cmake("subdirectory", subdirectory, "C", "march.c")
        self.cmake("subdirectory", subdirectory, "CXX", "march.cc", "-DBUILD_SHARED_LIBS=OFF")
        alone = subdirectory.replace("add_subdirectory(fogmarch)", "add_subdirectory(fogmarch/clients/c)")
        self.cmake("alone", alone, "C", "march.c")
        self.copy_parts("parts")
        self.cmake("parts", subdirectory, "C", "march.c")
        self.cmake("fetched", fetched, "C", "march.c")

    def copy_parts(self, name):
        """Those that the page names as enough."""
        with open(os.path.join(SOURCE, PAGE), encoding="utf-8") as page:
            parts = re.findall("`(.*?)`", re.search(r"[(]or of (.*?)[)]", page.read(), re.DOTALL).group(1))
        for part in parts:
            to = os.path.join(self.project(name), "fogmarch", part)
            os.makedirs(os.path.dirname(to), exist_ok=True)
            copy = shutil.copytree if os.path.isdir(os.path.join(SOURCE, part)) else shutil.copy
            copy(os.path.join(SOURCE, part), to)

    def exports(self):
        """Both libraries export only the headers' names, so that no other name can clash with a program's."""
        headers = ""
        for root, _, names in os.walk(os.path.join(self.prefix, "include")):
            for name in names:
                with open(os.path.join(root, name), encoding="utf-8") as file:
                    headers += file.read()
        for library, options in (("libfogmarch.so", ["-D"]), ("libfogmarch.a", ["-g"])):
            said = run("nm", *options, "--defined-only", os.path.join(self.libraries, library))
            names = {name.split("@")[0] for name in re.findall(r"^[0-9a-f]+ [TDBRW] (\S+)", said, re.M)}
            assert len(names) > 40, names
            for name in names:
                assert re.search(r"\b%s\(" % name, headers), f"{library} exports {name}, which no header declares"
            undefined = run("nm", *options, "--undefined-only", os.path.join(self.libraries, library))
            assert not re.search(r" U fm_", undefined), undefined
        soname = run("readelf", "-d", os.path.join(self.libraries, "libfogmarch.so"))
        assert re.search(r"SONAME.*\[libfogmarch\.so\.\d+\.\d+\]", soname), soname


def main():
    folder = tempfile.mkdtemp(prefix="fogmarch-package-")
    try:
        with Server() as server:
            with contextlib.closing(server.connect()) as client:
                client.call("world.create", name="arena", generator="skirmish", players=2, seed=7)
                client.call("team.create", world=1)
                base = client.call("world.info", world=1)["bases"][:2]
                client.call("agent.spawn", world=1, team=1, cells=base * 3)
            tries = Tries(folder, server)
            tries.exports()
            tries.pkg_config()
            tries.in_a_folder_with_a_space()
            tries.cmake_ways()
            print(f"{tries.count} programs marched")
    finally:
        shutil.rmtree(folder)


main()
