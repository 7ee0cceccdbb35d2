#!/usr/bin/env python3
"""Checks that the archives of the fuzz corpus are as tests/fuzz/merge writes them: same inputs, same bytes.

    python3 tests/fuzz/check_corpus.py [FOLDER]

Exit status 1 when an archive holds anything but plain files named by the SHA-1 of their contents, sorted,
without owner or time; when it has no target; or when such a file lies beside the seeds.
"""

import hashlib
import pathlib
import re
import sys
import tarfile

HASH = re.compile("[0-9a-f]{40}")
FOLDER = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else pathlib.Path(__file__).resolve().parent / "corpus"
wrong = []


def check_archive(path):
    target = path.name[:-len(".tar.gz")]
    if not (FOLDER / target).is_dir():
        wrong.append("%s: there is no folder of seeds %s" % (path.name, target))
    if path.read_bytes()[4:8] != bytes(4):
        wrong.append("%s: gzip's header has a time" % path.name)
    with tarfile.open(path) as archive:
        members = archive.getmembers()
        for member in members:
            plain = member.isfile() and (member.mtime, member.uid, member.gid, member.mode) == (0, 0, 0, 0o644)
            if not plain or hashlib.sha1(archive.extractfile(member).read()).hexdigest() != member.name:
                wrong.append("%s: %s is not a plain file named by its contents" % (path.name, member.name))
    names = [member.name for member in members]
    if not names or names != sorted(set(names)):
        wrong.append("%s: empty, not sorted, or a name twice" % path.name)


archives = sorted(FOLDER.glob("*.tar.*"))
for file in archives:
    check_archive(file)
wrong += ["%s belongs into the archive: bash tests/fuzz/merge" % file
          for file in sorted(FOLDER.glob("*/*")) if HASH.fullmatch(file.name)]
print("\n".join(wrong) or "%d archives" % len(archives))
sys.exit(1 if wrong or not archives else 0)
