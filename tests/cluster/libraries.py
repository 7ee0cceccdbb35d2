"""Programs of a test that exist once for each client library, in this folder: name_c.c, name_cpp.cc, name_python.py (with asyncio and
without), name_js.mjs, Name.cs, name.gd."""

import os
import shutil
import subprocess
import sys

from fogmarch_server import PATIENCE

HERE = os.path.dirname(os.path.abspath(__file__))
CLIENTS = os.path.join(HERE, "../../clients")


def programs(name, folder, **compiled):
    """By library: the program with its first arguments, in the folder where needed. Those whose language is not
    installed are left out. `compiled`: programs that the build has made. FOGMARCH_LIBRARIES=c,js takes these alone."""
    wanted = os.environ.get("FOGMARCH_LIBRARIES", "python,asyncio,c,cpp,js,csharp,godot").split(",")
    makers = {"cpp": cpp, "js": js, "csharp": csharp, "godot": godot}
    made = {kind: [program] for kind, program in compiled.items()}
    for kind in ("python", "asyncio"):
        flavour = "plain" if kind == "python" else kind
        made[kind] = [sys.executable, "-B", os.path.join(HERE, f"{name}_python.py"), flavour]
    for kind, make in makers.items():
        if kind in wanted:
            made[kind] = make(name, folder)
    return {kind: made[kind] for kind in wanted if made.get(kind)}


def cpp(name, folder):
    source = os.path.join(HERE, f"{name}_cpp.cc")
    if not shutil.which("c++") or not os.path.exists(source):
        return None
    library = os.path.join(os.environ["FOGMARCH_BUILD"], "lib")
    program = os.path.join(folder, f"{name}_cpp")
    subprocess.run(["c++", "-std=c++17", "-Wall", "-Wextra", "-Werror",
                    f"-I{os.path.join(CLIENTS, 'c/include')}", source, "-o", program,
                    f"-L{library}", f"-Wl,-rpath,{library}", "-lfogmarch", "-lmsgpackc"], check=True, timeout=PATIENCE)
    return [program]


def js(name, _folder):
    library = os.path.join(os.environ["FOGMARCH_BUILD"], "web-client/clients/js/dist")
    if not shutil.which("node") or not os.path.exists(library):
        return None
    return ["node", os.path.join(HERE, f"{name}_js.mjs"), library]


def csharp(name, folder):
    if not shutil.which("mcs") or not shutil.which("mono"):
        return None
    program = os.path.join(folder, f"{name}.exe")
    subprocess.run(["mcs", "-langversion:7", "-warn:4", "-warnaserror", "-r:System.dll", f"-out:{program}",
                    os.path.join(CLIENTS, "csharp/Runtime/*.cs"),
                    os.path.join(HERE, f"{name.capitalize()}.cs")], check=True, timeout=PATIENCE)
    return ["mono", program]


def godot(name, folder):
    engine = shutil.which("godot3-server") or shutil.which("godot3-headless")
    if engine is None:
        return None
    project = os.path.join(folder, "project")
    shutil.copytree(os.path.join(CLIENTS, "godot"), project)
    shutil.copy(os.path.join(HERE, f"{name}.gd"), project)
    return [engine, "--path", project, "-s", f"res://{name}.gd"]


def invocation(kind, command, arguments, folder):
    """The whole command and its environment: Godot takes its arguments from there."""
    if kind != "godot":
        return [*command, *arguments], None
    return command, {**os.environ, "HOME": folder, "XDG_DATA_HOME": folder, "FOLLOW": " ".join(arguments)}
