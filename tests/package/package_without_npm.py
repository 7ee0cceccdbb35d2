"""A build whose npm fails, as without a network.

Goal    it leaves out the web client and the charts of reports, says so, and ends well; what is installed needs neither.
Method  a build folder of its own and an npm that fails. Only what npm is for is built.
"""

import os
import re
import sys
import tempfile

from support import SOURCE, run, write

TARGET = "report_charts"  # it needs the target web


def main():
    with tempfile.TemporaryDirectory(prefix="fogmarch-package-") as folder:
        npm, build = os.path.join(folder, "bin/npm"), os.path.join(folder, "build")
        write(npm, "#!/bin/sh\necho no network >&2\nexit 1\n")
        os.chmod(npm, 0o755)
        environment = {"PATH": os.path.dirname(npm) + os.pathsep + os.environ["PATH"]}
        run("cmake", "-G", "Ninja", "-S", SOURCE, "-B", build, "-DBUILD_TESTING=OFF", "-DFOGMARCH_NPM=" + npm,
            environment=environment)
        said = run("cmake", "--build", build, "--target", TARGET, environment=environment)
        assert "no network" in said and "The web client was not built" in said, said
        with open(os.path.join(build, "loadtest/cmake_install.cmake"), encoding="utf-8") as file:
            assert re.search(r'TYPE FILE OPTIONAL FILES\s+"[^"]*uPlot', file.read()), "installing would fail"


if len(sys.argv) != 2:
    sys.exit("usage: package_without_npm.py BUILD")
main()
