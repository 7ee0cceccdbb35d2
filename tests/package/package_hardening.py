"""How the release's programs and library are hardened against the exploitation of memory errors.

Goal    Position-independent code, full RELRO, a stack that is not executable, the stack protector, fortified calls
        into libc, and landing pads at functions (CET).
Method  readelf, nm and objdump show what is in each binary. (The linker drops the note that marks a whole binary for
        CET, because Debian's own start files have none.)
"""

import os
import re
import sys

from support import run

BUILD = sys.argv[1]
BINARIES = ["bin/fogmarchd", "bin/fogmarch", "bin/fogmarch-load", "bin/fogmarch-lab", "lib/libfogmarch.so"]


def complaints(path):
    header = run("readelf", "-hldW", path)
    symbols = run("nm", "-D", "--undefined-only", path)
    yield "is not position-independent", re.search(r"Type:\s+DYN", header)
    yield "is no PIE", path.endswith(".so") or re.search(r"FLAGS_1.*\bPIE\b", header)
    yield "has no RELRO", "GNU_RELRO" in header
    yield "resolves lazily, so its GOT stays writable", re.search(r"FLAGS_1.*\bNOW\b", header)
    yield "has an executable stack", re.search(r"GNU_STACK.* RW ", header)
    yield "has writable code", not re.search(r"LOAD.* RWE ", header)
    yield "has no stack protector", "__stack_chk_fail" in symbols
    yield "calls libc unfortified", re.search(r"__(?:memcpy|snprintf|vsnprintf|fprintf|read)_chk", symbols)
    pads = len(re.findall(r"\bendbr64\b", run("objdump", "-d", "--no-show-raw-insn", path)))
    yield f"has {pads} landing pads", pads > 40


def main():
    wrong = ["%s %s" % (name, text) for name in BINARIES for text, fine in complaints(os.path.join(BUILD, name))
             if not fine]
    print("\n".join(wrong + [f"{len(BINARIES)} binaries, {len(wrong)} complaints"]))
    sys.exit(1 if wrong else 0)


main()
