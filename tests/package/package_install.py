"""`cmake --install` puts everything where it belongs, and it works there.

Goal    Programs find their web client, scenarios and server wherever the installed tree lies; man pages and
        completions have every option of --help, and the shells accept them; the unit names the program, the
        configs are valid; the list of parts holds all libraries that the programs are linked with.
Method  Everything is installed into one folder, which is then moved. The test asks bash, zsh and fish for
        completions as a user would, and reads man pages as text.
"""

import gzip
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import urllib.request

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../e2e"))
from fogmarch_server import Server, until  # noqa: E402
from support import run  # noqa: E402

BUILD = sys.argv[1]
PROGRAMS = {"fogmarchd": 8, "fogmarch": 1, "fogmarch-load": 1, "fogmarch-lab": 1}

# Types a line and a tab, and prints what zsh offers. It types only when the line editor has the terminal: before that
# the kernel takes keys such as ^U for itself. The end is a word that zsh prints later: the last of several matches may
# come some time after the first.
ZSH = r'''
zmodload zsh/zpty
zpty shell zsh -f -i
zpty -w shell "PROMPT=; fpath=($1 \$fpath); autoload -U compinit; compinit -u -D; stty -echo"
zpty -w shell 'compadd() { if [[ ${@[1,(i)(-|--)]} == *-(O|A|D)\ * ]]; then builtin compadd "$@"; else
local -a hits; builtin compadd -O hits "$@"; print -l -- MATCH:$^hits:END; fi }; zle-line-init() { echo REA\DY }; zle -N zle-line-init' # may be echoed, too
zpty -r shell line '*READY*'
zpty -n -w shell "$2"$'\t'
zpty -w shell $'\C-uecho FIN\\ISHED'
zpty -r shell line '*FINISHED*' && print -r -- "$line"
zpty -d shell
'''
BASH = r'''
compopt() { :; }
source "$1"
read -ra COMP_WORDS <<<"$2"
COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
_fogmarch
printf '%s\n' "${COMPREPLY[@]}"
'''


def installed(folder):
    first = os.path.join(folder, "first")
    run("cmake", "--install", BUILD, "--prefix", first)
    with open(os.path.join(first, "lib/systemd/system/fogmarchd.service"), encoding="utf-8") as file:
        assert f"ExecStart={first}/bin/fogmarchd --config" in file.read()
    prefix = os.path.join(folder, "moved here")
    os.rename(first, prefix)
    return prefix


def programs_work(prefix):
    bin_dir = os.path.join(prefix, "bin")
    for program in PROGRAMS:
        assert re.match(r"%s \d+\.\d+\.\d+" % program, run(os.path.join(bin_dir, program), "--version"))
    certificate = ["-subj", "/CN=localhost", "-keyout", os.path.join(prefix, "key.pem"),
                   "-out", os.path.join(prefix, "certificate.pem")]
    run("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", *certificate)
    for config in os.listdir(os.path.join(prefix, "share/fogmarch/configs")):
        tls = [] if config != "public-server.yaml" else [
            "--tls-certificate", certificate[5], "--tls-key", certificate[3]]
        run(os.path.join(bin_dir, "fogmarchd"), "--check-config", "--config",
            os.path.join(prefix, "share/fogmarch/configs", config), "--journal-dir", prefix, *tls,
            environment={"FOGMARCH_TOKEN": "not-a-secret-but-long-enough"})
    said = run(os.path.join(bin_dir, "fogmarch-load"), "--scenario", "skirmish", "--agents", "50", "--duration", "1",
               "--warm-up", "0", "--quiet", cwd="/")
    assert "skirmish" in said, said
    if not os.path.isdir(os.path.join(prefix, "share/fogmarch/web")):
        print("[ SKIPPED  ] the web client was not built")
        return
    with Server("--http", "127.0.0.1:0", program=os.path.join(bin_dir, "fogmarchd")) as server:
        port = until(lambda: re.search(r"serving HTTP address=127\.0\.0\.1 port=(\d+)", server.log()), server.log)[1]
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/play.html", timeout=20) as answer:
            assert b"<html" in answer.read().lower()


def options_of(text):
    return set(re.findall(r"^ +(?:-\w, )?(--[a-z][a-z0-9-]*)", text, re.M))


def manuals_are_whole(prefix):
    for program, section in PROGRAMS.items():
        path = os.path.join(prefix, f"share/man/man{section}/{program}.{section}.gz")
        with gzip.open(path, "rt", encoding="utf-8") as file:
            source = file.read()
        page = re.sub(r"\\fB|\\fR", "", source).replace("\\-", "-")
        helps = [run(os.path.join(prefix, "bin", program), "--help")]
        if "COMMAND" in helps[0].split("\n")[0]:
            for command in re.findall(r"^  ([a-z]+) +\S", helps[0], re.M):
                helps.append(run(os.path.join(prefix, "bin", program), command, "--help"))
            assert len(helps) > 20, helps
        for text in helps:
            for option in options_of(text):
                assert option in page, f"{program}.{section} does not know {option}"
        assert page.count("\n.SH ") >= 5, page
        if shutil.which("groff"):
            said = run("groff", "-man", "-ww", "-Tutf8", "-Kutf8", "-z", input=source)
            assert said == "", f"{path}: {said}"


def shells_complete(prefix):
    share = os.path.join(prefix, "share")
    lines = {"fogmarch sp": {"spawn"}, "fogmarch spawn --co": {"--connect", "--count"},
             "fogmarch create --oc": {"--occupancy"}}

    def check(shell, complete):
        if shutil.which(shell) is None:
            print(f"[ SKIPPED  ] {shell} is not installed")
            return
        for line, wanted in lines.items():
            found = complete(line)
            assert found == wanted, f"{shell}: '{line}' is completed to {found}"

    def zsh(line):
        said = run("zsh", "-f", "-c", ZSH, "zsh", os.path.join(share, "zsh/site-functions").replace(" ", "\\ "), line,
                   timeout=60)
        return set(re.findall(r"MATCH:(\S+?):END", said))

    def fish(line):
        script = "source '%s/fish/vendor_completions.d/fogmarch.fish'; complete -C '%s'" % (share, line)
        return {row.split("\t")[0] for row in run("fish", "--no-config", "-c", script).splitlines()}

    check("bash", lambda line: set(run("bash", "-c", BASH, "bash",
                                       os.path.join(share, "bash-completion/completions/fogmarch"), line).split()))
    check("zsh", zsh)
    check("fish", fish)
    for program in PROGRAMS:
        run("bash", "-n", os.path.join(share, "bash-completion/completions", program))
        for shell, name in (("zsh", f"zsh/site-functions/_{program}"), ("fish", f"fish/vendor_completions.d/{program}.fish")):
            if shutil.which(shell):
                assert run(shell, "-n", os.path.join(share, name)) == ""


def parts_are_listed(prefix):
    """The list of parts has every library that the programs are linked with, its version and licence."""
    with open(os.path.join(prefix, "share/fogmarch/fogmarch.cdx.json"), encoding="utf-8") as file:
        parts = json.load(file)
    assert parts["bomFormat"] == "CycloneDX" and parts["specVersion"] == "1.5", parts
    names = {part["name"] for part in parts["components"]}
    for part in parts["components"]:
        assert part["version"] and re.match(r"pkg:(deb|npm)/\S+@\S+$", part["purl"]), part
        assert part["licenses"][0]["expression"] not in ("", "NOASSERTION"), part
    modules = {"c": "glibc", "m": "glibc", "ssl": "openssl", "crypto": "openssl", "tinfo": "ncursesw", "png16": "libpng",
               "yaml-0": "yaml-0.1", "msgpackc": "msgpack", "z": "zlib", "xml2": "libxml-2.0"}
    for program in PROGRAMS:
        said = run("readelf", "-d", os.path.join(prefix, "bin", program))
        for needed in re.findall(r"NEEDED.*\[(?:lib)?(.+?)\.so", said):
            module = modules.get(needed, needed)
            assert needed.startswith("ld-") or module in names or "lib" + module in names, f"{needed} of {program}"


def main():
    folder = tempfile.mkdtemp(prefix="fogmarch-package-")
    try:
        prefix = installed(folder)
        programs_work(prefix)
        manuals_are_whole(prefix)
        parts_are_listed(prefix)
        shells_complete(prefix)
    finally:
        shutil.rmtree(folder)


main()
