"""Build conda/recipe.yaml from the sdist in dist/, and run the tests of the recipe on the package.

python -m tools.conda_package build/conda

No channel is asked: the packages that the recipe requires are made here, in a channel of one folder. Those of
Python are the wheels that this environment has installed, cmake and ninja among them; Python is this one; the
compiler, the C library and libgomp are empty packages that leave the system's in place.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import json
import re
import shutil
import sys
import sysconfig
from collections.abc import Iterator
from pathlib import Path

from packaging.requirements import Requirement
from rattler_build import (
    PlatformConfig,
    RenderConfig,
    Stage0Recipe,
    ToolConfiguration,
    VariantConfig,
    assemble_package,
)
from rattler_build.progress import SimpleProgressCallback

from tools.check_dist import ROOT, package_files, tracked, wrong_of_package

__all__ = ["RECIPE", "main"]

RECIPE = ROOT / "conda" / "recipe.yaml"
PLATFORM = "linux-64"
# What the recipe requires of the system: the compiler's version is that of the variant below.
SYSTEM = {"gxx_linux-64": "14.0", "sysroot_linux-64": "2.36", "libgomp": "14.0"}
VARIANTS = {
    "cxx_compiler": ["gxx"],
    "cxx_compiler_version": ["14"],
    "c_stdlib": ["sysroot"],
    "c_stdlib_version": ["2.36"],
}
# Executables of these wheels lie beside their modules.
TOOLS = {"cmake": ("cmake/data", ("bin", "share")), "ninja": ("", ("bin",))}


def closure(names: list[str]) -> list[str]:
    """Return distributions and all that they require in this environment, by name."""
    found: set[str] = set()
    waiting = list(names)
    while waiting:
        name = waiting.pop().lower().replace("_", "-")
        if name not in found:
            found.add(name)
            waiting += [requirement.name for requirement in required(name)]
    return sorted(found)


def required(name: str) -> Iterator[Requirement]:
    """Yield what an installed distribution requires here, without its extras."""
    for text in importlib.metadata.requires(name) or ():
        requirement = Requirement(text)
        if requirement.marker is None or requirement.marker.evaluate({"extra": ""}):
            yield requirement


class Channel:
    """A folder of packages, and of the list of them that solvers read."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / PLATFORM
        self.folder.mkdir(parents=True)
        self.packages: dict[str, dict[str, object]] = {}

    def add(self, name: str, version: str, files: Path, depends: list[str]) -> None:
        """Make a package of the files of a folder."""
        made = assemble_package(
            name,
            version,
            PLATFORM,
            "0",
            self.folder,
            files_dir=files,
            depends=depends,
            compression_level=1,
        )
        path = Path(made.path)
        content = path.read_bytes()
        self.packages[path.name] = {
            "name": name,
            "version": version,
            "build": "0",
            "build_number": 0,
            "depends": depends,
            "subdir": PLATFORM,
            "sha256": hashlib.sha256(content).hexdigest(),
            "size": len(content),
        }

    def write(self) -> None:
        """Write the list, and that of the platform without files."""
        for folder, packages in (
            (self.folder, self.packages),
            (self.folder.with_name("noarch"), {}),
        ):
            folder.mkdir(exist_ok=True)
            text = json.dumps(
                {
                    "info": {"subdir": folder.name},
                    "packages": {},
                    "packages.conda": packages,
                    "repodata_version": 1,
                }
            )
            (folder / "repodata.json").write_text(text, "utf-8")


def add_python(channel: Channel, files: Path) -> None:
    """Add this Python: a prefix that holds it is a virtual environment of it."""
    base = Path(sys.base_prefix)
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    (files / "bin").mkdir(parents=True)
    for name in ("python", "python3", f"python{version}"):
        (files / "bin" / name).symlink_to(base / "bin" / f"python{version}")
    (files / "pyvenv.cfg").write_text(f"home = {base}/bin\ninclude-system-site-packages = false\n")
    channel.add("python", sys.version.split()[0], files, [])


def add_distribution(channel: Channel, name: str, files: Path) -> None:
    """Add a distribution as it is installed here, without its scripts."""
    distribution = importlib.metadata.distribution(name)
    site = Path(sysconfig.get_path("purelib"))
    target = files / "lib" / f"python{sys.version_info.major}.{sys.version_info.minor}"
    for file in distribution.files or ():
        source = Path(str(file.locate())).resolve()
        if source.is_relative_to(site) and source.is_file() and source.suffix != ".pyc":
            where = target / "site-packages" / source.relative_to(site)
            where.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, where)
    depends = [
        "python",
        *(
            f"{requirement.name.lower().replace('_', '-')} {requirement.specifier}".strip()
            for requirement in required(name)
        ),
    ]
    channel.add(name, distribution.version, files, depends)


def add_tool(channel: Channel, name: str, files: Path) -> None:
    """Add the executable of a wheel, which does not need Python."""
    folder, parts = TOOLS[name]
    home = Path(sysconfig.get_path("purelib")) / folder if folder else Path(sys.prefix)
    for part in parts:
        if folder:
            shutil.copytree(home / part, files / part, symlinks=True)
        else:
            (files / part).mkdir(parents=True)
            shutil.copy2(home / part / name, files / part / name)
    channel.add(name, re.split(r"\.(?:post|dev)", importlib.metadata.version(name))[0], files, [])


def make_channel(folder: Path, work: Path) -> None:
    """Make the channel of all that the recipe requires."""
    channel = Channel(folder)
    add_python(channel, work / "python")
    for name in TOOLS:
        add_tool(channel, name, work / name)
    needed = ["pip", "scikit-build-core", "nanobind"]
    needed += ["numpy", "scipy", "scikit-learn", "joblib", "threadpoolctl"]
    for name in closure(needed):
        add_distribution(channel, name, work / name)
    for name, version in SYSTEM.items():
        (work / name / "etc").mkdir(parents=True)
        (work / name / "etc" / f"{name}.txt").write_text("The system's.\n")
        channel.add(name, version, work / name, [])
    channel.write()


def build(channel: Path, out: Path) -> Path:
    """Build the recipe, run its tests, and return the package."""
    (result,) = Stage0Recipe.from_file(RECIPE).run_build(
        VariantConfig(VARIANTS),
        ToolConfiguration(test_strategy="native"),
        out,
        [channel.as_uri()],
        SimpleProgressCallback(),
        package_format="tar-bz2",  # the standard library reads it
        render_config=RenderConfig(PlatformConfig(target_platform=PLATFORM)),
    )
    (path,) = result.packages
    return Path(path)


def main(folder: str) -> int:
    """Build; print what is wrong with the package, and return 1 if anything is."""
    work = Path(folder).resolve()
    shutil.rmtree(work, ignore_errors=True)
    make_channel(work / "channel", work / "files")
    path = build(work / "channel", work / "out")
    files = package_files(path)
    found = list(wrong_of_package(files, tracked()))
    for line in found:
        print(line, file=sys.stderr)
    print(
        f"{path.name}: {len(files)} files; depends on {json.loads(files['info/index.json'])['depends']}"
    )
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
