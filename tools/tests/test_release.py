"""The release: the sdist is complete, versions agree, the workflows call existing commands."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tomllib

import pytest
import yaml
from tools.check_dist import (
    ROOT,
    main,
    sdist_files,
    tracked,
    wheel_files,
    wrong_of_package,
    wrong_of_sdist,
    wrong_of_wheel,
)
from tools.check_release import heading, version, wrong

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
PYTHONS = [text.rpartition(" ")[2] for text in PROJECT["classifiers"] if ":: 3." in text]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))


# ---- sdist and wheel

PYPROJECT = b"""[project]
name = "conclust"
version = "1.2.3"
license = "BSD-3-Clause"
requires-python = ">=3.11"
dependencies = ["numpy>=2.0"]
"""
METADATA = b"""Metadata-Version: 2.4
Name: conclust
Version: 1.2.3
License-Expression: BSD-3-Clause
Requires-Python: >=3.11
Requires-Dist: numpy>=2.0
Requires-Dist: matplotlib; extra == "plot"
"""
SOURCE = {
    "pyproject.toml": PYPROJECT,
    "CMakeLists.txt": b"c",
    "LICENSE": b"l",
    "LICENSES_bundled.txt": b"b",
    "README.md": b"r",
    "src/conclust/__init__.py": b"i",
    "src/conclust/py.typed": b"",
    "src/conclust/_kernels/_core.pyi": b"p",
    "src/conclust/_kernels/module.cpp": b"m",
    "tests/test_a.py": b"t",
}
SDIST = {
    "PKG-INFO": METADATA,
    **{name: content for name, content in SOURCE.items() if not name.startswith("tests/")},
}
INFO = "conclust-1.2.3.dist-info"
WHEEL = {
    "conclust/__init__.py": b"i",
    "conclust/py.typed": b"",
    "conclust/_kernels/_core.pyi": b"p",
    "conclust/_kernels/_core.abi3.so": b"ELF",
    "conclust.libs/libgomp-1.so": b"ELF",
    f"{INFO}/METADATA": METADATA,
    f"{INFO}/RECORD": b"",
    f"{INFO}/licenses/LICENSE": b"l",
    f"{INFO}/licenses/LICENSES_bundled.txt": b"b",
}


def test_complete_archives_pass():
    assert list(wrong_of_sdist(SDIST, SOURCE)) == []
    assert list(wrong_of_wheel(WHEEL, SOURCE)) == []


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("src/conclust/_kernels/module.cpp", None, "lacks src/conclust/_kernels/module.cpp"),
        ("src/conclust/__init__.py", b"other", "another src/conclust/__init__.py"),
        ("src/conclust/_core.so", b"", "which git does not know"),
        ("PKG-INFO", METADATA.replace(b"1.2.3", b"1.2.4"), "Version is 1.2.4, not 1.2.3"),
        ("PKG-INFO", METADATA.replace(b"numpy>=2.0", b"numpy"), "it requires ['numpy']"),
    ],
)
def test_faults_of_an_sdist_are_detected(name, content, said):
    files = {**SDIST, name: content}
    if content is None:
        del files[name]
    (found,) = wrong_of_sdist(files, SOURCE)
    assert said in found


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("conclust/py.typed", None, "lacks conclust/py.typed"),
        ("conclust/__init__.py", b"other", "another conclust/__init__.py"),
        ("conclust/_kernels/_core.abi3.so", None, "holds 0 extensions"),
        ("conclust/_kernels/_core.abi3.so", str(ROOT).encode(), "names the folder"),
        ("conclust/_kernels/module.cpp", b"m", "which nothing requires"),
        (f"{INFO}/licenses/LICENSE", None, "lacks LICENSE"),
        (f"{INFO}/METADATA", METADATA.replace(b">=3.11", b">=3.8"), "Requires-Python is >=3.8"),
    ],
)
def test_faults_of_a_wheel_are_detected(name, content, said):
    files = {**WHEEL, name: content}
    if content is None:
        del files[name]
    (found,) = wrong_of_wheel(files, SOURCE)
    assert said in found


SITE = "lib/python3.11/site-packages"
PACKAGE = {
    "info/index.json": b'{"name": "conclust", "version": "1.2.3", "depends": ["numpy >=2.0", "python >=3.11"]}',
    "info/licenses/LICENSE": b"l",
    "info/licenses/LICENSES_bundled.txt": b"b",
    "bin/conclust": b"#!",
    f"{SITE}/conclust/__pycache__/__init__.cpython-311.pyc": b"",
    **{
        f"{SITE}/{name}": content
        for name, content in WHEEL.items()
        if not name.endswith(".1") and ".libs/" not in name
    },
}


def test_a_whole_conda_package_is_passed():
    assert list(wrong_of_package(PACKAGE, SOURCE)) == []


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        (f"{SITE}/conclust/py.typed", None, "lacks conclust/py.typed"),
        (f"{SITE}/numpy/__init__.py", b"", "numpy/__init__.py, which nothing requires"),
        ("info/licenses/LICENSE", None, "lacks info/licenses/LICENSE"),
        (
            "info/index.json",
            PACKAGE["info/index.json"].replace(b"1.2.3", b"1.2.4"),
            "the package is conclust 1.2.4",
        ),
        (
            "info/index.json",
            PACKAGE["info/index.json"].replace(b"numpy >=2.0", b"numpy"),
            "does not depend on numpy>=2.0",
        ),
    ],
)
def test_faults_of_a_conda_package_are_detected(name, content, said):
    files = {**PACKAGE, name: content}
    if content is None:
        del files[name]
    (found,) = wrong_of_package(files, SOURCE)
    assert said in found


@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="git knows no files here")
def test_the_sdist_is_complete(tmp_path, capsys):
    build = "import sys; from scikit_build_core.build import build_sdist; build_sdist(sys.argv[1])"
    subprocess.run(
        [sys.executable, "-c", build, tmp_path], cwd=ROOT, check=True, capture_output=True
    )
    (path,) = tmp_path.iterdir()
    assert path.name == f"conclust-{version()}.tar.gz"
    files, source = sdist_files(path), tracked()
    assert list(wrong_of_sdist(files, source)) == []
    assert not [name for name in files if name.startswith((".", "tests/", "docs/"))]
    # An empty wheel, which the command must report.
    shutil.make_archive(str(tmp_path / "empty"), "zip", root_dir=tmp_path, base_dir=path.name)
    empty = (tmp_path / "empty.zip").rename(tmp_path / "empty.whl")
    assert list(wheel_files(empty)) == [path.name]
    assert main(str(path), str(empty)) == 1
    assert "the wheel lacks conclust/__init__.py" in capsys.readouterr().err


# ---- one version


def test_all_files_have_one_version():
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
    assert cited["version"] == version()
    assert heading()[0] == version()
    bibtex = (ROOT / "docs" / "how-to" / "cite.md").read_text("utf-8")
    assert f"version = {{{version()}}}" in bibtex


def test_the_conda_recipe_agrees_with_the_project():
    recipe = yaml.safe_load((ROOT / "conda" / "recipe.yaml").read_text("utf-8"))
    assert recipe["context"]["version"] == version()
    needed = {f"python{PROJECT['requires-python']}", *PROJECT["dependencies"]}
    assert {text.replace(" ", "") for text in recipe["requirements"]["run"]} == needed
    built = {
        text.replace(" ", "") for text in recipe["requirements"]["host"] if isinstance(text, str)
    }
    build = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["build-system"]
    assert built >= set(build["requires"])
    assert recipe["about"]["license"] == PROJECT["license"]
    for name in recipe["about"]["license_file"]:
        assert (ROOT / name).is_file(), name


@pytest.fixture
def released(tmp_path):
    (tmp_path / "pyproject.toml").write_bytes(PYPROJECT)
    (tmp_path / "CITATION.cff").write_text("version: 1.2.3\ndate-released: 2026-12-01\n")
    (tmp_path / "CHANGELOG.md").write_text("# Changelog\n\n## 1.2.3 (2026-12-01)\n\n- A.\n")
    (tmp_path / "docs" / "how-to").mkdir(parents=True)
    (tmp_path / "docs" / "how-to" / "cite.md").write_text("  version = {1.2.3},\n")
    return tmp_path


def test_a_valid_release_passes(released):
    assert list(wrong("v1.2.3", released)) == []


@pytest.mark.parametrize(
    ("file", "old", "new", "said"),
    [
        ("pyproject.toml", "1.2.3", "1.2.4", "pyproject.toml has the version 1.2.4"),
        ("CITATION.cff", "1.2.3", "1.2.2", "CITATION.cff has the version 1.2.2"),
        ("docs/how-to/cite.md", "1.2.3", "1.2.2", "cite.md does not have the version 1.2.3"),
        ("CHANGELOG.md", "1.2.3", "1.2.2", "begins with 1.2.2, not 1.2.3"),
        ("CHANGELOG.md", "2026-12-01", "unreleased", "has no date of 1.2.3: it says unreleased"),
    ],
)
def test_faults_of_a_release_are_detected(released, file, old, new, said):
    path = released / file
    path.write_text(path.read_text().replace(old, new))
    assert said in next(wrong("v1.2.3", released))


# ---- the workflows


def steps_of(workflow):
    for name, job in workflow["jobs"].items():
        for step in job.get("steps", [{"uses": job.get("uses")}]):
            yield name, job, step


@pytest.fixture(params=WORKFLOWS, ids=lambda path: path.stem)
def workflow(request):
    return yaml.safe_load(request.param.read_text("utf-8"))


def test_a_workflow_requests_few_permissions(workflow):
    assert workflow["permissions"] == {"contents": "read"}
    for name, job in workflow["jobs"].items():
        assert job.get("permissions", {"id-token": "write"}) == {"id-token": "write"}
        assert ("permissions" in job) == (name == "publish")
        assert "uses" in job or 0 < job["timeout-minutes"] <= 90


def test_actions_have_a_version_and_files_exist(workflow):
    for _, _, step in steps_of(workflow):
        used = step.get("uses")
        if used is not None and used.startswith("./"):
            assert (ROOT / used).is_file(), used
        elif used is not None:
            # A commit cannot be moved, as a tag can.
            assert re.fullmatch(r"[\w-]+/[\w-]+@[0-9a-f]{40}", used), used


def test_commands_of_a_workflow_exist(workflow):
    targets = re.findall(r"^(\w[\w-]*):(?!=)", (ROOT / "Makefile").read_text("utf-8"), re.M)
    for _, job, step in steps_of(workflow):
        line = step.get("run", "")
        asked = re.findall(r"\bmake (\S+)", line.replace("${{ matrix.target }}", "MATRIX"))
        for target in asked:
            matrix = job.get("strategy", {}).get("matrix", {})
            wanted = matrix["target"] if target == "MATRIX" else [target]
            assert set(wanted) <= set(targets), wanted
        for name in re.findall(r"(?<![\w/])(?:tests|tools|constraints)/[\w/.-]+", line):
            assert (ROOT / name).exists(), name
        for name in re.findall(r"-m (tools\.\w+)", line):
            assert (ROOT / (name.replace(".", "/") + ".py")).is_file(), name


def test_workflows_cover_the_local_ci():
    here = set(re.findall(r"\bmake ([\w-]+)", (ROOT / ".ci" / "run").read_text("utf-8")))
    tests = yaml.safe_load((ROOT / ".github/workflows/tests.yml").read_text("utf-8"))
    matrix = tests["jobs"]["linux"]["strategy"]["matrix"]
    here -= {"demo", "setup"}  # every target sets up what it needs
    assert here <= {*matrix["target"], "wheel"}
    assert {*matrix["python"], *(row["python"] for row in matrix["include"])} == set(PYTHONS)


def test_wheels_cover_the_supported_pythons():
    tool = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]
    built = [text.removesuffix("-*") for text in tool["cibuildwheel"]["build"]]
    assert built == [*("cp" + text.replace(".", "") for text in PYTHONS), "cp314t"]
    assert PROJECT["requires-python"] == f">={PYTHONS[0]}"
    assert tool["scikit-build"]["wheel"]["py-api"] in built
    command = tool["cibuildwheel"]["test-command"].split()
    assert (ROOT / command[1].replace("{project}/", "")).is_file()


def test_notices_of_bundled_libraries_are_included():
    """Nanobind and robin_map are compiled into the extension; libgomp is bundled."""
    text = (ROOT / "LICENSES_bundled.txt").read_text("utf-8")
    for notice in (
        "Copyright (c) 2022 Wenzel Jakob",
        "Redistributions in binary form must reproduce the above copyright notice",
        "Copyright (c) 2017 Thibaut Goetghebuer-Planchon",
        "Permission is hereby granted, free of charge",
        "GCC RUNTIME LIBRARY EXCEPTION",
        "Version 3.1, 31 March 2009",
        "GNU GENERAL PUBLIC LICENSE",
        "END OF TERMS AND CONDITIONS",
    ):
        assert notice in text, notice
