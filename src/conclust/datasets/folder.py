"""Reading published sets from the folder that the variable CONCLUST_DATA names.

The folder holds the files and a ``manifest.json``: a list of records with at least ``name``,
``file`` and ``sha256``. Which files belong to which set is fixed in ``catalogue.json``, so that nothing in the
manifest can lead elsewhere; a file is read after its hash was found right.
"""

from __future__ import annotations

import csv
import gzip
import hashlib
import io
import json
import os
import re
import zlib
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, Literal, NoReturn

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from conclust._files.storage import open_regular, read_json, read_npz
from conclust._types import Floats, Ints
from conclust.datasets.dataset import Dataset
from conclust.exceptions import DatasetNotFoundError, FileFormatError

VARIABLE = "CONCLUST_DATA"
_ROWS = 16_384  # number of rows read at a time: text takes far more memory than numbers


@dataclass(frozen=True)
class Published:
    """A set that is read from the user's folder, if it exists there.

    Attributes
    ----------
    form : str
        "table": CSV, packed, features and a last column "label". "arrays": NPZ of X and y.
        "counts": NPZ of a CSR matrix of word counts, and y. "pool": NPZ of label columns X, and y.
    n_samples, n_features, n_classes : int
        Required shape of the file.
    what : str
        Kind of object.
    where : str
        Place of publication.
    text_features : tuple of str
        Features that hold words; each becomes one whole number per word, in sorted order.
    file : str
        Name of the file in the folder, without its suffix, if it differs from the name of the set.
    """

    form: Literal["table", "arrays", "counts", "pool"]
    n_samples: int
    n_features: int
    n_classes: int
    what: str
    where: str
    text_features: tuple[str, ...] = ()
    file: str = ""


PUBLISHED: dict[str, Published] = {
    name: Published(**entry)
    for name, entry in json.loads(
        Path(__file__).with_name("catalogue.json").read_text("utf-8")
    ).items()
}


def is_there(name: str) -> bool:
    """Return whether the folder lists the set and holds its file (its hash is not checked)."""
    folder = _folder()
    if folder is None or not (folder / "manifest.json").is_file():
        return False
    return _stem(name) in _records(folder) and (folder / _file_name(name)).is_file()


def read(name: str) -> Dataset:
    """Read a set from the folder."""
    entry, folder, file_name = PUBLISHED[name], _folder(), _file_name(name)
    if folder is None:
        _not_there(name, "which is not set")
    if not (folder / "manifest.json").is_file():
        _not_there(name, f"now {str(folder)!r}, where there is no manifest.json")
    record = _records(folder).get(_stem(name))
    if record is None:
        _not_there(name, f"now {str(folder)!r}, where manifest.json lacks it")
    path = folder / file_name
    if not path.is_file():
        _not_there(name, f"now {str(folder)!r}, where the file is missing")
    content = _verified(path, record)
    try:
        X, labels, features = (_table if entry.form == "table" else _arrays)(content, entry, path)
    except FileFormatError:
        raise
    except (ValueError, KeyError, OSError, EOFError, zlib.error, csv.Error) as error:
        raise FileFormatError(f"{path} is damaged: {error}.") from error
    y, targets = _classes(labels)
    shape = (entry.n_samples, entry.n_features)
    if X.shape != shape or (len(y), len(features)) != shape:
        _damaged(path, f"holds {X.shape[0]} x {X.shape[1]} values and {len(y)} labels", entry)
    if len(targets) != entry.n_classes:
        _damaged(path, f"holds {len(targets)} classes", entry)
    return Dataset(name, X, y, features, targets, f"{entry.what}. {entry.where}")


def _folder() -> Path | None:
    value = os.environ.get(VARIABLE, "")
    return Path(value) if value else None


def _stem(name: str) -> str:
    return PUBLISHED[name].file or name


def _file_name(name: str) -> str:
    return _stem(name) + (".csv.gz" if PUBLISHED[name].form == "table" else ".npz")


def _records(folder: Path) -> dict[str, dict[str, Any]]:
    path = folder / "manifest.json"
    records = read_json(path)
    if not isinstance(records, list) or not all(
        isinstance(record, dict) and isinstance(record.get("name"), str) for record in records
    ):
        raise FileFormatError(f"{path} is damaged: it must be a list of records with a name each.")
    return {record["name"]: record for record in records}


def _verified(path: Path, record: dict[str, Any]) -> bytes:
    """Return the content of a file, whose name and hash are those of its record."""
    if record.get("file") != path.name:
        raise FileFormatError(
            f"{path.with_name('manifest.json')} names the file {record.get('file')!r} for the set "
            f"{record['name']!r}. Expected {path.name!r}."
        )
    with open_regular(path) as file:
        content = file.read()
    digest = hashlib.sha256(content).hexdigest()
    if digest != record.get("sha256"):
        raise FileFormatError(
            f"{path} is not the file that its manifest describes: its SHA-256 is {digest}, expected "
            f"{record.get('sha256')!r}. Download it again."
        )
    return content


def _table(
    content: bytes, entry: Published, path: Path
) -> tuple[Floats, NDArray[Any], tuple[str, ...]]:
    unpacked = gzip.GzipFile(fileobj=io.BytesIO(content))
    rows = csv.reader(io.TextIOWrapper(unpacked, "utf-8-sig", newline=""), strict=True)
    header = next(rows, [])
    if not header or header[-1] != "label":
        _damaged(path, f"has {len(header)} columns, the last named {header[-1:]}", entry)
    words = {j for j, name in enumerate(header) if name in (*entry.text_features, "label")}
    columns: list[list[NDArray[Any]]] = [[] for _ in header]
    while block := list(islice(rows, _ROWS)):
        for j, cells in enumerate(zip(*block, strict=True)):
            numbers = [cell or "nan" for cell in cells]  # an empty field is a missing value
            columns[j].append(np.array(cells) if j in words else np.array(numbers, dtype=float))
    *features, labels = (np.concatenate(parts) for parts in columns)
    coded = [
        np.unique(values, return_inverse=True)[1] if j in words else values
        for j, values in enumerate(features)
    ]
    return np.column_stack(coded).astype(np.float64), labels, tuple(header[:-1])


def _arrays(
    content: bytes, entry: Published, path: Path
) -> tuple[Any, NDArray[Any], tuple[str, ...]]:
    arrays, _ = read_npz(path, content=content, max_bytes=2**32)
    if entry.form == "counts":
        parts = (arrays["counts"].astype(np.float64), arrays["indices"], arrays["indptr"])
        X: Any = sp.csr_array(parts, shape=tuple(arrays["shape"].tolist()))
        X.sum_duplicates()
    else:
        X = arrays["X"] if entry.form == "pool" else arrays["X"].astype(np.float64)
    letter = "p" if entry.form == "pool" else "x"
    names = arrays.get("vocabulary" if entry.form == "counts" else "features")
    features = [f"{letter}{j + 1}" for j in range(X.shape[1])] if names is None else names.tolist()
    return X, arrays["y"].astype(str), tuple(features)


def _classes(labels: NDArray[Any]) -> tuple[Ints, tuple[str, ...]]:
    """Return codes and names of the classes, in numerical or else alphabetical order."""
    names, codes = np.unique(labels, return_inverse=True)
    if all(re.fullmatch("-?[0-9]{1,18}", name) for name in names.tolist()):
        order = np.argsort(names.astype(np.int64), kind="stable")
        names, codes = names[order], np.argsort(order)[codes]
    return codes.astype(np.int64), tuple(names.tolist())


def _not_there(name: str, state: str) -> NoReturn:
    entry = PUBLISHED[name]
    raise DatasetNotFoundError(
        f"The data set {name!r} is not on this machine: {entry.what} ({entry.n_samples} x "
        f"{entry.n_features}, {entry.n_classes} classes). It is published here: {entry.where}. Put "
        f"{_file_name(name)!r}, with its record in manifest.json (name, file, sha256), into a folder and "
        f"name that folder in the environment variable {VARIABLE} ({state}). conclust downloads "
        "nothing."
    )


def _damaged(path: Path, what: str, entry: Published) -> NoReturn:
    raise FileFormatError(
        f"{path} {what}. Expected {entry.n_samples} rows of {entry.n_features} values and a label, "
        f"of {entry.n_classes} classes."
    )
