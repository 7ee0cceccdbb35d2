"""loadtest/readme_table.py: the tables of measured numbers.

Goal    all runs give the tables that are in git; one run alone gives its row in each page that has it, and leaves a
        page that does not have it as it is; a file without a run of any table, or a page without its comments, changes
        nothing.
Method  the script and the two pages in a folder of their own, with parts of results/runs.csv.
"""

import csv
import pathlib
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PAGES = ("README.md", "loadtest/README.md")

with open(ROOT / "loadtest/results/runs.csv", newline="", encoding="utf-8") as file:
    HEAD, *RUNS = csv.reader(file)


class Tree:
    """A folder with the script and the pages."""

    def __enter__(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="fogmarch-table-"))
        (self.folder / "loadtest/results").mkdir(parents=True)
        for name in (*PAGES, "loadtest/readme_table.py"):
            shutil.copyfile(ROOT / name, self.folder / name)
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.folder)

    def read(self):
        return [(self.folder / page).read_text(encoding="utf-8") for page in PAGES]

    def write_tables(self, runs):
        with open(self.folder / "loadtest/results/runs.csv", "w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows([HEAD, *runs])
        return subprocess.run([sys.executable, self.folder / "loadtest/readme_table.py"], capture_output=True,
                              text=True, timeout=60)


def rows(page):
    table = page.split("<!-- measured: begin -->")[1].split("<!-- measured: end -->")[0]
    return [line.split("`")[1] for line in table.splitlines() if line.startswith("| `")]


def main():
    with Tree() as tree:
        before = tree.read()
        listed = [rows(page) for page in before]
        done = tree.write_tables(RUNS)
        assert done.returncode == 0 and tree.read() == before, done
        for run in RUNS:
            with Tree() as single:
                done = single.write_tables([run])
                assert done.returncode == 0, (run[0], done)
                for old, names, new in zip(before, listed, single.read()):
                    if run[0] in names:
                        assert rows(new) == run[:1], (run[0], rows(new))
                    else:
                        assert new == old, run[0]
        done = tree.write_tables([["another", *RUNS[0][1:]]])
        assert done.returncode == 1 and "no run that a table has" in done.stderr, done
        page = tree.folder / PAGES[1]
        page.write_text("no table\n", encoding="utf-8")
        done = tree.write_tables(RUNS[:1])
        assert done.returncode == 1 and "the two comments" in done.stderr, done
        assert tree.read() == [before[0], "no table\n"], "nothing is half done"


main()
