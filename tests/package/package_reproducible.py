"""The same sources in another folder give the same bytes.

Goal    What is built does not depend on where, when and by whom: libfogmarch, and, with `all` as second argument, the
        programs fogmarchd and fogmarch, which takes minutes.
Method  The sources are copied into a folder with another name, with their commit, and built there once more, without
        a compiler cache. 77 where git cannot say what belongs to the sources.
"""

import filecmp
import os
import shutil
import subprocess
import sys
import tempfile

from support import SOURCE, run

BUILD = os.path.realpath(sys.argv[1])
BINARIES = {"lib/libfogmarch.so": "fogmarch_shared"}
if "all" in sys.argv[2:]:
    BINARIES.update({"bin/fogmarchd": "fogmarchd", "bin/fogmarch": "fogmarch"})


def main():
    listed = subprocess.run(["git", "-C", SOURCE, "ls-files", "-co", "--exclude-standard"], text=True,
                            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    if listed.returncode != 0:
        print("[ SKIPPED  ] this is no git working copy")
        sys.exit(77)
    folder = tempfile.mkdtemp(prefix="fogmarch-package-")
    try:
        copy = os.path.join(folder, "a folder with a longer name")
        run("git", "clone", "-q", "-n", "-s", SOURCE, copy)
        for path in listed.stdout.splitlines():
            if os.path.isfile(os.path.join(SOURCE, path)):
                os.makedirs(os.path.dirname(os.path.join(copy, path)), exist_ok=True)
                shutil.copy2(os.path.join(SOURCE, path), os.path.join(copy, path))
        environment = {"CMAKE_C_COMPILER_LAUNCHER": "", "TZ": "Asia/Tokyo", "LC_ALL": "C"}
        run("cmake", "--preset", "release", "-DFOGMARCH_WEB=OFF", cwd=copy, environment=environment)
        run("cmake", "--build", "--preset", "release", "--target", *BINARIES.values(), cwd=copy,
            environment=environment, timeout=1400)
        for name in BINARIES:
            first, second = os.path.join(BUILD, name), os.path.join(copy, "build/release", name)
            assert filecmp.cmp(first, second, shallow=False), f"{name} differs: compare {first} with another build"
        print(f"{len(BINARIES)} binaries are the same")
    finally:
        shutil.rmtree(folder)


main()
