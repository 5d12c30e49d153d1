"""Look whether an sdist and a wheel hold what they should, no more and no less, to the byte.

``python -m tools.check_dist dist/conclust-0.1.0.tar.gz dist/conclust-0.1.0-....whl``
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from collections.abc import Iterator, Mapping
from email.parser import BytesParser
from pathlib import Path, PurePosixPath

__all__ = [
    "package_files",
    "sdist_files",
    "tracked",
    "wheel_files",
    "wrong_of_package",
    "wrong_of_sdist",
    "wrong_of_wheel",
]

ROOT = Path(__file__).resolve().parent.parent
NEEDED = ("CMakeLists.txt", "LICENSE", "LICENSES_bundled.txt", "README.md", "pyproject.toml")
"""What a build reads beside src/."""

_KERNELS = "conclust/_kernels/_core"


def tracked(root: Path = ROOT) -> dict[str, bytes]:
    """Return the files that git knows, by name, as they are in the working tree."""
    names = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=root,
        capture_output=True,
        check=True,
        text=True,
    ).stdout
    paths = [name for name in names.split("\0") if name and (root / name).is_file()]
    return {name: (root / name).read_bytes() for name in paths}


def sdist_files(path: Path) -> dict[str, bytes]:
    """Return the files of an sdist without the folder that they lie in."""
    found = {}
    with tarfile.open(path) as archive:
        for entry in archive:
            content = archive.extractfile(entry)
            if content is not None:
                found[PurePosixPath(entry.name).relative_to(_top(path)).as_posix()] = content.read()
    return found


def wheel_files(path: Path) -> dict[str, bytes]:
    """Return the files of a wheel."""
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist() if not name.endswith("/")}


def package_files(path: Path) -> dict[str, bytes]:
    """Return the files of a package of conda, a .tar.bz2."""
    found = {}
    with tarfile.open(path) as archive:
        for entry in archive:
            content = archive.extractfile(entry)
            if content is not None:
                found[entry.name] = content.read()
    return found


def _top(path: Path) -> str:
    return path.name.removesuffix(".tar.gz")


def wrong_of_sdist(files: Mapping[str, bytes], source: Mapping[str, bytes]) -> Iterator[str]:
    """Yield what is wrong with the files of an sdist, given those of the repository."""
    wanted = {name for name in source if name.startswith("src/") or name in NEEDED}
    yield from (f"the sdist lacks {name}" for name in sorted(wanted - files.keys()))
    for name in sorted(files.keys() - {"PKG-INFO"}):
        if name not in source:
            yield f"the sdist holds {name}, which git does not know"
        elif files[name] != source[name]:
            yield f"the sdist holds another {name}"
    yield from _wrong_metadata("PKG-INFO", files, source)


def wrong_of_wheel(files: Mapping[str, bytes], source: Mapping[str, bytes]) -> Iterator[str]:
    """Yield what is wrong with the files of a wheel, given those of the repository."""
    package = {
        name.removeprefix("src/"): content
        for name, content in source.items()
        if name.startswith("src/") and not name.endswith((".cpp", ".h"))
    }
    for name, content in package.items():
        if name not in files:
            yield f"the wheel lacks {name}"
        elif files[name] != content:
            yield f"the wheel holds another {name}"
    kernels = [name for name in files if name.startswith(f"{_KERNELS}.") and name not in package]
    if len(kernels) != 1:
        yield f"the wheel holds {len(kernels)} extensions, not one: {kernels}"
    info = next((name.partition("/")[0] for name in files if ".dist-info/" in name), "?")
    for name in sorted(files.keys() - package.keys() - {*kernels}):
        if not name.startswith((f"{info}/", "conclust.libs/")):
            yield f"the wheel holds {name}, which nothing requires"
    for name in ("LICENSE", "LICENSES_bundled.txt"):
        if files.get(f"{info}/licenses/{name}") != source[name]:
            yield f"the wheel lacks {name}"
    for name in kernels:
        if str(ROOT).encode() in files[name]:
            yield f"{name} names the folder it was built in"
    yield from _wrong_metadata(f"{info}/METADATA", files, source)


def _as_wheel(files: Mapping[str, bytes]) -> dict[str, bytes]:
    """Return the files of a package, but for its description, by the names that they have in a wheel."""
    found = {}
    for name, content in files.items():
        if name.startswith("info/"):
            continue
        found[re.sub(r"^lib/python[\d.]+/site-packages/", "", name)] = content
    return found


def wrong_of_package(files: Mapping[str, bytes], source: Mapping[str, bytes]) -> Iterator[str]:
    """Yield what is wrong with the files of a package, given those of the repository."""
    installed = {
        name: content
        for name, content in _as_wheel(files).items()
        if name != "bin/conclust" and "__pycache__" not in name
    }
    yield from wrong_of_wheel(installed, source)
    if "bin/conclust" not in files:
        yield "the package lacks bin/conclust"
    for name in ("LICENSE", "LICENSES_bundled.txt"):
        if files.get(f"info/licenses/{name}") != source[name]:
            yield f"the package lacks info/licenses/{name}"
    index = json.loads(files["info/index.json"])
    project = tomllib.loads(source["pyproject.toml"].decode())["project"]
    if (index["name"], index["version"]) != (project["name"], project["version"]):
        yield f"the package is {index['name']} {index['version']}"
    needed = {text.replace(" ", "") for text in index["depends"]}
    missing = {f"python{project['requires-python']}", *project["dependencies"]} - needed
    yield from (f"the package does not depend on {text}" for text in sorted(missing))


def _wrong_metadata(
    name: str, files: Mapping[str, bytes], source: Mapping[str, bytes]
) -> Iterator[str]:
    """Yield in what the metadata differ from pyproject.toml."""
    if name not in files:
        yield f"there is no {name}"
        return
    told = BytesParser().parsebytes(files[name])
    project = tomllib.loads(source["pyproject.toml"].decode())["project"]
    for field, wanted in (
        ("Name", project["name"]),
        ("Version", project["version"]),
        ("License-Expression", project["license"]),
        ("Requires-Python", project["requires-python"]),
    ):
        if told[field] != wanted:
            yield f"{name}: {field} is {told[field]}, not {wanted}"
    runs = {text for text in told.get_all("Requires-Dist", []) if "extra ==" not in text}
    if runs != set(project["dependencies"]):
        yield f"{name}: it requires {sorted(runs)}"


def main(sdist: str, wheel: str) -> int:
    """Print what is wrong; return 1 if anything is."""
    source = tracked()
    found = [
        *wrong_of_sdist(sdist_files(Path(sdist)), source),
        *wrong_of_wheel(wheel_files(Path(wheel)), source),
    ]
    for line in found:
        print(line, file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
