"""Reading published sets from the folder that the variable CONCLUST_DATA names.

The folder holds the files and a ``manifest.json``: a list of records with at least ``name``,
``file`` and ``sha256``. Which files belong to which set is fixed here, so that nothing in the
manifest can lead elsewhere; a file is parsed after its hash was found right, and never beyond the
size that the set is known to have.
"""

from __future__ import annotations

import csv
import hashlib
import io
import os
import re
import zlib
from itertools import islice
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from conclust._files import storage as _storage
from conclust._types import Floats, Ints
from conclust.datasets.catalogue import Published
from conclust.datasets.dataset import Dataset
from conclust.exceptions import DatasetNotFoundError, FileFormatError

VARIABLE = "CONCLUST_DATA"
ROWS = 16_384  # number of rows read at a time: text takes far more memory than numbers
MAX_FILE = 2**28  # maximum size in bytes of a file in the folder


def is_there(name: str, entry: Published) -> bool:
    """Return whether the folder lists the set and holds its file (its hash is not checked)."""
    folder = _folder()
    if folder is None or not (folder / "manifest.json").is_file():
        return False
    stem = entry.file or name
    return stem in _records(folder) and (folder / _file_name(stem, entry)).is_file()


def read(name: str, entry: Published) -> Dataset:
    """Read a set from the folder."""
    folder = _folder()
    stem = entry.file or name
    file_name = _file_name(stem, entry)
    if folder is None:
        _not_there(name, entry, file_name, "which is not set")
    if not (folder / "manifest.json").is_file():
        _not_there(name, entry, file_name, f"now {str(folder)!r}, where there is no manifest.json")
    record = _records(folder).get(stem)
    if record is None:
        _not_there(name, entry, file_name, f"now {str(folder)!r}, where manifest.json lacks it")
    path = folder / file_name
    if not path.is_file():
        _not_there(name, entry, file_name, f"now {str(folder)!r}, where the file is missing")
    content = _verified(path, file_name, record)
    if entry.form == "table":
        X, labels, features = _table(_unpacked(content, entry, path), entry, path)
    else:
        X, labels, features = _arrays(path, entry)
    y, targets = _classes(labels)
    if X.shape != (entry.n_samples, entry.n_features) or len(y) != entry.n_samples:
        _damaged(path, f"holds {X.shape[0]} x {X.shape[1]} values and {len(y)} labels", entry)
    if len(targets) != entry.n_classes:
        _damaged(path, f"holds {len(targets)} classes", entry)
    return Dataset(name, X, y, features, targets, f"{entry.what}. {entry.where}")


def _folder() -> Path | None:
    value = os.environ.get(VARIABLE, "")
    return Path(value) if value else None


def _file_name(stem: str, entry: Published) -> str:
    return stem + (".csv.gz" if entry.form == "table" else ".npz")


def _records(folder: Path) -> dict[str, dict[str, Any]]:
    path = folder / "manifest.json"
    records = _storage.read_json(path)
    if not isinstance(records, list) or not all(
        isinstance(record, dict) and isinstance(record.get("name"), str) for record in records
    ):
        raise FileFormatError(f"{path} is damaged: it must be a list of records with a name each.")
    return {record["name"]: record for record in records}


def _verified(path: Path, file_name: str, record: dict[str, Any]) -> bytes:
    expected = record.get("sha256")
    if record.get("file") != file_name:
        raise FileFormatError(
            f"{path.with_name('manifest.json')} names the file {record.get('file')!r} for the set "
            f"{record['name']!r}. Expected {file_name!r}."
        )
    if not isinstance(expected, str) or not re.fullmatch("[0-9a-f]{64}", expected):
        raise FileFormatError(
            f"{path.with_name('manifest.json')} must give the SHA-256 of {file_name!r} as 64 digits "
            f"from 0 to f. Got {expected!r}."
        )
    with _storage.open_regular(path) as file:
        content = file.read(MAX_FILE + 1)
    if len(content) > MAX_FILE:
        raise FileFormatError(
            f"{path} is larger than {MAX_FILE >> 20} MiB, the limit for a file of a data set."
        )
    digest = hashlib.sha256(content).hexdigest()
    if digest != expected:
        raise FileFormatError(
            f"{path} is not the file that its manifest describes: its SHA-256 is {digest}, expected "
            f"{expected}. Download it again."
        )
    return content


def _unpacked(content: bytes, entry: Published, path: Path) -> str:
    # No published table has longer fields on average, so a longer text is not such a table.
    limit = 32 * (entry.n_samples + 1) * (entry.n_features + 1) + 2**16
    stream = zlib.decompressobj(wbits=31)
    try:
        text = stream.decompress(content, limit)
    except zlib.error as error:
        raise FileFormatError(f"{path} is damaged: it cannot be unpacked ({error}).") from error
    if stream.unconsumed_tail or stream.unused_data:
        _damaged(path, f"unpacks to more than {limit} bytes", entry)
    if not stream.eof:
        raise FileFormatError(f"{path} is cut off: it ends in the middle of its packed content.")
    try:
        return text.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise FileFormatError(f"{path} is not UTF-8 text ({error}).") from error


def _table(text: str, entry: Published, path: Path) -> tuple[Floats, NDArray[Any], tuple[str, ...]]:
    rows = csv.reader(io.StringIO(text, newline=""), strict=True)
    try:
        header = next(rows, [])
        if len(header) != entry.n_features + 1 or header[-1] != "label":
            _damaged(path, f"has {len(header)} columns, the last named {header[-1:]}", entry)
        X = np.empty((entry.n_samples, entry.n_features))
        words: dict[int, list[NDArray[Any]]] = {
            j: [] for j, name in enumerate(header) if name in entry.text_features
        }
        labels: list[NDArray[Any]] = []
        done = 0
        while block := list(islice(rows, ROWS)):
            if done + len(block) > entry.n_samples:
                _damaged(path, "holds more rows", entry)
            for i, row in enumerate(block):
                if len(row) != len(header):
                    _damaged(path, f"has {len(row)} fields in row {done + i + 1}", entry)
            columns = list(zip(*block, strict=True))
            for j, column in enumerate(columns[:-1]):
                if j in words:
                    words[j].append(np.array(column))
                else:
                    X[done : done + len(block), j] = _numbers(column, header[j], done, path)
            labels.append(np.array(columns[-1]))
            done += len(block)
    except csv.Error as error:
        raise FileFormatError(f"{path} is damaged: {error} (line {rows.line_num}).") from error
    if done != entry.n_samples:
        _damaged(path, f"holds {done} rows", entry)
    for j, parts in words.items():
        X[:, j] = np.unique(np.concatenate(parts), return_inverse=True)[1]
    return X, np.concatenate(labels), tuple(header[:-1])


def _numbers(column: tuple[str, ...], name: str, done: int, path: Path) -> Floats:
    """Return the numbers of a column; an empty field is a missing value."""
    try:
        return np.array([field or "nan" for field in column], dtype=np.float64)
    except ValueError:
        for i, field in enumerate(column):
            try:
                float(field or "nan")
            except ValueError:
                raise FileFormatError(
                    f"{path} must hold numbers in column {name!r}. Got {field[:80]!r} in row "
                    f"{done + i + 1}."
                ) from None
        raise


def _arrays(path: Path, entry: Published) -> tuple[Any, NDArray[Any], tuple[str, ...]]:
    dense = 8 * entry.n_samples * entry.n_features
    arrays, _ = _storage.read_npz(path, max_bytes=dense + 2**24)
    if entry.form == "counts":
        X: Any = _counts(arrays, entry, path)
    else:
        X = _part(arrays, "X", 2, "iuf", path)
        if entry.form == "pool" and X.dtype.kind not in "iu":
            _damaged(path, f"holds labels of {X.dtype}", entry)
        if entry.form != "pool":
            X = X.astype(np.float64)
    columns = "vocabulary" if entry.form == "counts" else "features"
    if columns in arrays:
        features = tuple(_part(arrays, columns, 1, "U", path).tolist())
        if len(features) != entry.n_features:
            _damaged(path, f"names {len(features)} columns", entry)
    else:
        letter = "p" if entry.form == "pool" else "x"
        features = tuple(f"{letter}{j + 1}" for j in range(entry.n_features))
    return X, _part(arrays, "y", 1, "iuU", path).astype(str), features


def _counts(arrays: dict[str, Any], entry: Published, path: Path) -> sp.csr_array:
    shape = (entry.n_samples, entry.n_features)
    if tuple(_part(arrays, "shape", 1, "iu", path).tolist()) != shape:
        _damaged(path, f"holds counts of shape {arrays['shape'].tolist()}", entry)
    indptr = _part(arrays, "indptr", 1, "iu", path).astype(np.int64)
    indices = _part(arrays, "indices", 1, "iu", path).astype(np.int64)
    counts = _part(arrays, "counts", 1, "iu", path).astype(np.float64)
    sound = (
        len(indptr) == shape[0] + 1
        and indptr[0] == 0
        and indptr[-1] == len(indices) == len(counts)
        and bool((np.diff(indptr) >= 0).all())
        and bool(((indices >= 0) & (indices < shape[1])).all())
    )
    if not sound:
        raise FileFormatError(f"{path} is damaged: its sparse matrix does not fit together.")
    X = sp.csr_array((counts, indices, indptr), shape=shape)
    X.sum_duplicates()
    return X


def _part(arrays: dict[str, Any], name: str, ndim: int, kinds: str, path: Path) -> NDArray[Any]:
    array = arrays.get(name)
    if array is None or array.ndim != ndim or array.dtype.kind not in kinds:
        what = "nothing" if array is None else f"an array of {array.dtype} and shape {array.shape}"
        raise FileFormatError(
            f"{path} is damaged: it must hold {ndim}-D data {name!r}. Got {what}."
        )
    part: NDArray[Any] = array
    return part


def _classes(labels: NDArray[Any]) -> tuple[Ints, tuple[str, ...]]:
    """Return codes and names of the classes, in numerical or else alphabetical order."""
    names, codes = np.unique(labels, return_inverse=True)
    if all(re.fullmatch("-?[0-9]{1,18}", name) for name in names.tolist()):
        order = np.argsort(names.astype(np.int64), kind="stable")
        rank = np.empty(len(order), dtype=np.int64)
        rank[order] = np.arange(len(order))
        names, codes = names[order], rank[codes]
    return codes.astype(np.int64), tuple(names.tolist())


def _not_there(name: str, entry: Published, file_name: str, state: str) -> NoReturn:
    raise DatasetNotFoundError(
        f"The data set {name!r} is not on this machine: {entry.what} ({entry.n_samples} x "
        f"{entry.n_features}, {entry.n_classes} classes). It is published here: {entry.where}. Put "
        f"{file_name!r}, with its record in manifest.json (name, file, sha256), into a folder and "
        f"name that folder in the environment variable {VARIABLE} ({state}). conclust downloads "
        "nothing."
    )


def _damaged(path: Path, what: str, entry: Published) -> NoReturn:
    raise FileFormatError(
        f"{path} {what}. Expected {entry.n_samples} rows of {entry.n_features} values and a label, "
        f"of {entry.n_classes} classes."
    )
