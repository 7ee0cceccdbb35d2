"""Shared by the tests of this folder: commands that must succeed, and the examples of a page."""

import os
import re
import subprocess

SOURCE = os.path.realpath(os.path.join(os.path.dirname(__file__), "../.."))


def run(*command, cwd=None, environment=None, timeout=300, input=None):
    """Runs a command that must succeed. Returns its output."""
    done = subprocess.run(command, cwd=cwd, env={**os.environ, **(environment or {})}, text=True, input=input,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=timeout, stdin=None if input else
                          subprocess.DEVNULL)
    assert done.returncode == 0, f"{' '.join(command)} ended with {done.returncode}:\n{done.stdout}"
    return done.stdout


def examples(page, language):
    """The fenced blocks of a page, in order."""
    with open(os.path.join(SOURCE, page), encoding="utf-8") as file:
        return re.findall(r"^```%s\n(.*?)^```$" % language, file.read(), re.M | re.S)


def write(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
