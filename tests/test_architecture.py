"""The architecture: layers, imports, public names, and files that a repository must not hold."""

import ast
import doctest
import importlib
import inspect
import json
import re
import subprocess
import sys
from dataclasses import fields, is_dataclass
from functools import cache
from pathlib import Path

import pytest
from tools.house import BUDGET, sizes

import conclust

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "src" / "conclust"

# Imports go down only: a module may import modules of a lower floor, of a lower step of its own
# floor, or of its own step. A module that is missing here fails the test: add it to a floor.
FLOORS = {
    # 1 the thing
    "_lazy": (1, 0),
    "exceptions": (1, 0),
    "_types": (1, 0),
    "_validation": (1, 1),
    "_parameters": (1, 2),
    "_files": (1, 2),
    "_kernels": (1, 2),
    "_progress": (1, 2),
    "_random": (1, 2),
    "_sklearn": (1, 2),
    "_threads": (1, 2),
    "words": (1, 2),
    "_arrays": (1, 3),
    "ensemble": (1, 4),
    # 2 quantities
    "borders": (2, 0),
    "divergences": (2, 0),
    "evidence": (2, 0),
    "neighbours": (2, 0),
    "similarity": (2, 0),
    "spectra": (2, 0),
    "lattice": (2, 1),
    "membership": (2, 0),
    "placing": (2, 1),
    "trees": (2, 1),
    "measures": (2, 1),
    "metrics": (2, 2),
    # 3 stages
    "blocks": (3, 0),
    "generation": (3, 0),
    "networks": (3, 0),
    "weighting": (3, 0),
    "consensus": (3, 1),
    "blocks.methods": (3, 2),
    # 4 judging
    "selection": (4, 0),
    "confidence": (4, 0),
    "number": (4, 0),
    "pipeline": (4, 2),
    "topics": (4, 2),
    "results": (4, 3),
    # 5 edges
    "datasets": (5, 0),
    "plotting": (5, 0),
    "words.page": (5, 0),
    "report": (5, 1),
    "sc": (5, 1),
    "cli": (5, 2),
    "__main__": (5, 3),
}

MODULES = sorted(
    path.relative_to(PACKAGE.parent).with_suffix("").as_posix().replace("/", ".")
    for path in PACKAGE.rglob("*.py")
)


def name_of(module):
    return module.removesuffix(".__init__")


@cache
def source_of(module):
    return (PACKAGE.parent / (module.replace(".", "/") + ".py")).read_text("utf-8")


@cache
def tree_of(module):
    tree = ast.parse(source_of(module))
    if module.startswith("conclust.words."):  # which names the types of facts of all floors
        tree.body = [node for node in tree.body if not isinstance(node, ast.If)]
    stub = PACKAGE.parent / (module.replace(".", "/") + ".pyi")
    if "= attach(__name__)" in source_of(module):
        tree.body += ast.parse(stub.read_text("utf-8")).body  # what the names import at first use
    return tree


@cache
def imported(module):
    """List what a module imports, at the top or inside a function."""
    return list(imports_in(module))


def imports_in(module):
    for node in ast.walk(tree_of(module)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name != "conclust")
        elif isinstance(node, ast.Attribute) and getattr(node.value, "id", "") == "conclust":
            yield f"conclust.{node.attr}"
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{module}, line {node.lineno}: write imports in full"
            if node.module == "conclust":
                yield from (f"conclust.{alias.name}" for alias in node.names)
            else:
                yield node.module or ""
                yield from (f"{node.module}.{alias.name}" for alias in node.names)


def room(module):
    inner = ".".join(module.split(".")[1:3])
    return inner if inner in FLOORS else module.split(".")[1]


def test_imports_go_down_only():
    for module in (m for m in MODULES if m != "conclust.__init__"):
        module_room = room(module)
        assert module_room in FLOORS, (
            f"{module_room} has no floor: give it one in this file and in ARCHITECTURE.md"
        )
        for target in imported(module):
            # The version and the list of public names are data, readable from anywhere.
            if not target.startswith("conclust.") or target in (
                "conclust.__version__",
                "conclust._HOMES",
            ):
                continue
            other = room(target)
            assert other in FLOORS, (
                f"{module} imports {target}: import from the module that defines it"
            )
            assert FLOORS[other] <= FLOORS[module_room], (
                f"{module} on {FLOORS[module_room]} imports {target} from above"
            )


@pytest.mark.parametrize("folder", ["consensus.literature", "consensus.papers", "blocks.methods"])
def test_the_core_does_not_import_the_methods_of_papers_and_in_blocks(folder):
    folder = f"conclust.{folder}"
    aside = ("conclust.blocks.methods.", folder)
    others = [module for module in MODULES if not module.startswith(aside)]
    assert any(module.startswith(folder) for module in MODULES)
    assert not [m for m in others if any(target.startswith(folder) for target in imported(m))]


def test_the_top_module_imports_lazily():
    assert all(n.startswith(("importlib", "conclust._lazy")) for n in imported("conclust.__init__"))


def test_only_one_module_imports_the_extension():
    door = "conclust._kernels.__init__"
    assert any(target.startswith("conclust._kernels._core") for target in imported(door))
    for module in MODULES:
        if module != door:
            assert "_core" not in {
                part for target in imported(module) for part in target.split(".")
            }
            assert "_kernels._core" not in "".join(strings_of(module))


def strings_of(module):
    for node in ast.walk(tree_of(module)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


HEAVY = ("numpy", "scipy", "sklearn", "joblib", "pandas", "polars", "pyarrow", "matplotlib")


def test_import_loads_nothing_heavy():
    script = f"import sys, conclust; print(sorted(set(sys.modules) & set({HEAVY!r})))"
    found = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=60
    )
    assert found.stdout.strip() == "[]"


# --------------------------------------------------------------------------------- public names


def stub_names():
    tree = ast.parse((PACKAGE / "__init__.pyi").read_text("utf-8"))
    for node in tree.body:
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "__all__":
            return ast.literal_eval(node.value)
    raise AssertionError("the stub lists no __all__")


def test_the_stub_lists_the_public_names():
    assert sorted(stub_names()) == sorted(conclust.__all__)
    tree = ast.parse((PACKAGE / "__init__.pyi").read_text("utf-8"))
    homes = {
        alias.name: node.module
        for node in tree.body
        if isinstance(node, ast.ImportFrom) and node.module != "conclust"
        for alias in node.names
    }
    assert homes == conclust._HOMES


def test_public_names_resolve():
    for name in stub_names():
        assert getattr(conclust, name) is not None
        assert name in dir(conclust), name


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'nonesuch'"):
        _ = conclust.nonesuch


def loaded(module):
    return importlib.import_module(name_of(module))


def test_all_lists_existing_names():
    for module in (m for m in MODULES if not m.endswith("__main__")):
        found = loaded(module)
        for name in getattr(found, "__all__", ()):
            assert hasattr(found, name), f"{module} lists {name!r} and does not have it"


def public_objects():
    """List the public functions and classes, by the names that users write."""
    found = {}
    for name in stub_names():
        if name.startswith("_"):
            continue
        try:
            value = getattr(conclust, name)
        except ImportError:  # reported by test_public_names_resolve, name by name
            continue
        if inspect.ismodule(value):
            found |= {f"{name}.{inner}": getattr(value, inner) for inner in value.__all__}
            for inner in value.__all__:
                module = getattr(value, inner)
                if name == "sc" and inspect.ismodule(module):
                    found |= {f"sc.{inner}.{n}": getattr(module, n) for n in module.__all__}
        else:
            found[name] = value
    return {
        name: value
        for name, value in found.items()
        if callable(value)
        and not (inspect.isclass(value) and issubclass(value, BaseException | Warning))
    }


PUBLIC = public_objects()


def methods_of(value):
    """List the public methods of a class that conclust itself defines."""
    for name, method in inspect.getmembers(value, inspect.isroutine):
        module = getattr(method, "__module__", "") or ""
        if not name.startswith("_") and module.startswith("conclust") and method.__doc__:
            yield name, method


def section(doc, title):
    """Return the lines of one section of a numpydoc docstring, None if it is absent."""
    lines = inspect.cleandoc(doc).splitlines()
    for i in range(len(lines) - 1):
        if lines[i] == title and set(lines[i + 1]) == {"-"}:
            rest = lines[i + 2 :]
            ends = [j for j in range(len(rest) - 1) if rest[j] and set(rest[j + 1]) == {"-"}]
            return rest[: ends[0]] if ends else rest
    return None


def documented(doc, title="Parameters"):
    """List the names that a section describes."""
    names = []
    for line in section(doc, title) or []:
        if line and not line.startswith(" "):
            names += [name.strip().lstrip("*") for name in line.split(" : ")[0].split(",")]
    return names


def parameters(signature):
    return [name for name in signature.parameters if name not in ("self", "cls")]


def is_record(value):
    """Return whether a value is a dataclass or a named tuple, and not an estimator."""
    is_estimator = hasattr(value, "get_params")
    return (is_dataclass(value) and not is_estimator) or hasattr(value, "_fields")


def fields_of(record):
    return list(getattr(record, "_fields", None) or (field.name for field in fields(record)))


def test_docstrings_name_the_parameters():
    for name in PUBLIC:
        value = PUBLIC[name]
        doc = value.__doc__
        assert doc, f"{name} has no docstring"
        if is_record(value):
            told, there = documented(doc, "Attributes"), fields_of(value)
            # Most are made by conclust, and describe their content; some are made by the user.
            assert told == there or documented(doc) == there, name
        else:
            assert documented(doc) == parameters(inspect.signature(value)), name
        if inspect.isclass(value):
            for method_name, method in methods_of(value):
                if section(method.__doc__, "Parameters") is not None:
                    told = documented(method.__doc__)
                    assert told == parameters(inspect.signature(method)), f"{name}.{method_name}"


def test_a_list_of_parameters_is_a_whole_list():
    for module in (m for m in MODULES if not m.endswith("__main__")):
        for name, value in vars(loaded(module)).items():
            if getattr(value, "__module__", "") != name_of(module) or not inspect.isfunction(value):
                continue
            if section(value.__doc__ or "", "Parameters") is not None:
                told = documented(value.__doc__)
                assert told == parameters(inspect.signature(value)), f"{module}.{name}"


def test_docstrings_have_an_example():
    for name in (n for n in PUBLIC if not is_record(PUBLIC[n])):
        assert section(PUBLIC[name].__doc__, "Examples"), f"{name} has no example"


# Their examples need anndata: tests/sc/test_examples.py.
ELSEWHERE = "conclust.sc."


@pytest.mark.parametrize(
    "module",
    [
        m
        for m in MODULES
        if not m.endswith("__main__") and not m.startswith(ELSEWHERE) and ">>>" in source_of(m)
    ],
)
def test_examples_run(module):
    found = doctest.testmod(loaded(module), report=True)
    assert found.attempted
    assert found.failed == 0


# ------------------------------------------------------------------------------- the repository


def tracked():
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        check=True,
        timeout=60,
    )
    paths = [ROOT / name for name in listed.stdout.decode().split("\0") if name]
    return [path for path in paths if path.is_file()]


TRACKED = tracked()

# Put together here, so that this file does not hold them.
HOSTS = [
    "pypi" + ".org",
    "python" + "hosted",
    "ana" + "conda.org",
    "conda" + ".io",
    "npm" + "js.org",
]
ADDRESS = re.compile(
    "|".join([*map(re.escape, HOSTS), r"\w+://[^\s\"'<>]+\.(?:whl|tar\.gz|tar\.bz2|conda)\b"])
)


def test_no_file_holds_a_download_address_of_a_package():
    assert TRACKED
    assert ADDRESS.search("https:" + "//a.example/simple/x-1.0-py3-none-any" + ".whl")
    found = [
        f"{path.relative_to(ROOT)}: {match.group()}"
        for path in TRACKED
        if (match := ADDRESS.search(path.read_text("utf-8", errors="replace")))
    ]
    assert not found


@pytest.mark.parametrize(
    "path", sorted((ROOT / "constraints").glob("*")), ids=lambda path: path.name
)
def test_constraints_are_names_and_versions(path):
    assert path.suffix == ".txt"
    lines = path.read_text("utf-8").splitlines()
    assert lines
    for line in lines:
        assert re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]*==[0-9][A-Za-z0-9.!+]*", line), line
    names = [re.sub(r"[-_.]+", "-", line.split("==")[0]).lower() for line in lines]
    assert names == sorted(set(names))


def test_scripts_name_existing_tests():
    named = {
        path.name: re.findall(r"\btests/[\w/]+\.py\b", path.read_text("utf-8"))
        for path in (ROOT / "tools").glob("*.sh")
    }
    assert len(named["sanitize.sh"]) > 20
    assert not [name for names in named.values() for name in names if not (ROOT / name).is_file()]


def folder_of(module):
    """Return the folder of a module, or the module itself if it is a folder."""
    parts = module.split(".")
    return module if (PACKAGE.parent / "/".join(parts)).is_dir() else ".".join(parts[:-1])


def test_no_folders_import_each_other_in_a_circle():
    """But for a folder and those within it: what stands directly in a folder is shared by these."""
    edges = {}
    for module in MODULES:
        own = folder_of(name_of(module))
        for other in imported(module):
            if other.startswith("conclust."):
                there = folder_of(other)
                if not (f"{there}.".startswith(f"{own}.") or f"{own}.".startswith(f"{there}.")):
                    edges.setdefault(own, set()).add(there)
    assert (
        "conclust.consensus.papers.probabilistic.placements"
        in edges["conclust.consensus.papers.probabilistic.solvers"]
    )
    for own in edges:
        reached, new = set(), {own}
        while new:
            new = set().union(*(edges.get(folder, set()) for folder in new)) - reached
            reached |= new
        assert own not in reached


def test_no_files_import_each_other_in_a_circle():
    """Neither at the top, nor inside a function, nor for type checking only."""
    names = {name_of(module) for module in MODULES}
    edges = {
        name_of(module): {other for other in imported(module) if other in names} - {name_of(module)}
        for module in MODULES
    }
    # A name from a package is resolved to its __init__; a submodule to itself.
    for module in MODULES:
        doors = {
            ".".join(other.split(".")[:-1])
            for other in imported(module)
            if other in names and ".".join(other.split(".")[:-1]) in names
        }
        taken = {
            node.module
            for node in ast.walk(tree_of(module))
            if isinstance(node, ast.ImportFrom)
            and all(f"{node.module}.{alias.name}" in names for alias in node.names)
        }
        edges[name_of(module)] -= doors & taken
    done = set()
    while True:
        ends = {name for name in edges if name not in done and not edges[name] - done}
        if not ends:
            break
        done |= ends
    assert not sorted(set(edges) - done)


def test_no_size_is_above_the_budget():
    """Raise a number only in a commit that says why: who has asked for what it holds (CONTRIBUTING.md)."""
    budget, now = json.loads(BUDGET.read_text("utf-8")), sizes()
    assert set(budget) <= set(now)
    table = "\n".join(f"{name}: {size:,}" for name, size in now.items())
    assert {name: now[name] for name, most in budget.items() if now[name] > most} == {}, table
