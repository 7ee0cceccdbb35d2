"""The same sources in another folder give the same bytes.

Goal    A build does not depend on where, when and by whom it is made: libfogmarch, and, with `all` as second
        argument, the programs fogmarchd and fogmarch, which takes minutes.
Method  The sources are copied into two folders, with their commit, and built in each without a compiler cache,
        which would change paths. Exits with 77 (skipped) where git cannot list the sources.
"""

import filecmp
import os
import shutil
import subprocess
import sys
import tempfile

from support import SOURCE, run

BINARIES = {"lib/libfogmarch.so": "fogmarch_shared"}
if "all" in sys.argv[2:]:
    BINARIES.update({"bin/fogmarchd": "fogmarchd", "bin/fogmarch": "fogmarch"})


def build(copy, paths, environment):
    run("git", "clone", "-q", "-n", "-s", SOURCE, copy)
    for path in paths:
        if os.path.isfile(os.path.join(SOURCE, path)):
            os.makedirs(os.path.dirname(os.path.join(copy, path)), exist_ok=True)
            shutil.copy2(os.path.join(SOURCE, path), os.path.join(copy, path))
    environment = {"CMAKE_C_COMPILER_LAUNCHER": "", "LC_ALL": "C", **environment}
    run("cmake", "--preset", "release", "-DFOGMARCH_WEB=OFF", cwd=copy, environment=environment)
    run("cmake", "--build", "--preset", "release", "--target", *BINARIES.values(), cwd=copy,
        environment=environment, timeout=1400)
    return os.path.join(copy, "build/release")


def main():
    listed = subprocess.run(["git", "-C", SOURCE, "ls-files", "-co", "--exclude-standard"], text=True,
                            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    if listed.returncode != 0:
        print("[ SKIPPED  ] this is no git working copy")
        sys.exit(77)
    folder = tempfile.mkdtemp(prefix="fogmarch-package-")
    try:
        paths = listed.stdout.splitlines()
        first = build(os.path.join(folder, "short"), paths, {"TZ": "UTC"})
        second = build(os.path.join(folder, "a folder with a longer name"), paths, {"TZ": "Asia/Tokyo"})
        for name in BINARIES:
            assert filecmp.cmp(os.path.join(first, name), os.path.join(second, name), shallow=False), f"{name} differs"
        print(f"{len(BINARIES)} binaries are the same")
    finally:
        shutil.rmtree(folder)


main()
