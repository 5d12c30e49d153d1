"""The schema of result.json: the types of its entries, which are checked before use."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

from conclust._files.versions import RESULT_FORMAT
from conclust.exceptions import FileFormatError, InputError

Form: TypeAlias = Callable[[Any], bool]


def checked_entries(content: Any, path: Path) -> dict[str, Any]:
    """Return the content of a result.json after checking the types of the entries that it has.

    Parameters
    ----------
    content : object
        The content of the JSON file.
    path : Path
        The file, for messages.

    Raises
    ------
    FileFormatError
        It is not a JSON object, or an entry has another type.
    """
    if not isinstance(content, dict):
        raise FileFormatError(f"{path} is damaged: it is not a JSON object. Make the result again.")
    for place, form in _FORMS.items():
        *outer, last = place.split("/")
        holder: Any = content
        for key in outer:
            holder = holder.get(key) if isinstance(holder, dict) else None
        if isinstance(holder, dict) and last in holder and not form(holder[last]):
            raise FileFormatError(
                f"{path} is damaged: its entry {place!r} is not of the expected type. Make the result again."
            )
    return content


def check_format(content: dict[str, Any], folder: Path) -> None:
    """Refuse a result that another version of conclust wrote, in another format."""
    version = content.get("format")
    if version != RESULT_FORMAT:
        versions = content.get("versions")
        made = versions.get("conclust") if isinstance(versions, dict) else None
        raise InputError(
            f"{folder} has format {version!r}, written by {f'conclust {made}' if made else 'another version of conclust'}; "
            f"this version reads format {RESULT_FORMAT}. Make the result again, or read it with that version."
        )


def _text(value: Any) -> bool:
    return isinstance(value, str)


def _whole(value: Any) -> bool:
    return type(value) is int and 0 <= value <= 1 << 53


def _number(value: Any) -> bool:
    """Return whether a value is a number within float64 (JSON allows integers of any length)."""
    return type(value) in (int, float) and abs(value) < 1 << 1000 and math.isfinite(value)


def _object(value: Any) -> bool:
    return isinstance(value, dict)


def _settings(value: Any) -> bool:
    """Return whether a value is an object in which dependent entries are complete."""
    return isinstance(value, dict) and all(
        needed in value
        for name, needed in (("n_resamples", "sample_fraction"), ("reduced", "n_components"))
        if value.get(name) is not None
    )


def _or_none(form: Form) -> Form:
    return lambda value: value is None or form(value)


def _list_of(form: Form) -> Form:
    return lambda value: isinstance(value, list) and all(map(form, value))


def _object_of(form: Form) -> Form:
    return lambda value: isinstance(value, dict) and all(map(form, value.values()))


def _numbers(value: Any) -> bool:
    return _list_of(_or_none(_number))(value)


def _square(value: Any) -> bool:
    return _list_of(_numbers)(value) and all(len(row) == len(value) for row in value)


def _flags(value: Any) -> bool:
    return _list_of(_list_of(lambda flag: isinstance(flag, bool)))(value)


def _scores(value: Any) -> bool:
    needed = {"consistency_index", "adjusted_rand_index"}
    return _object_of(_number)(value) and needed <= value.keys()


def _with(**entries: Form) -> Form:
    """Return the schema of an object with these entries, and possibly others."""

    def form(value: Any) -> bool:
        return isinstance(value, dict) and all(
            name in value and one(value[name]) for name, one in entries.items()
        )

    return form


_SUPPORT = _with(n_clusters=_whole, lifetime=_number, straddling=_number, support=_number)
_CURVE = _object_of(_numbers)
# How a number of clusters was chosen: the whole record of `select`, and part of the record of other commands.
_SELECTION: dict[str, Form] = {
    "clusters": _whole,
    "p_value": _or_none(_number),
    "references": _whole,
    "borders_tested": _whole,
    "borders_held": _whole,
    "p_value_clouds": _or_none(_number),
    "reason": _text,
    "doubts": _list_of(_text),
    "alternatives": _list_of(_whole),
    "k": _list_of(_whole),
    "criteria": _object_of(_numbers),
    "null": _list_of(_numbers),
    "distribution": _object_of(_CURVE),
    "settings": _settings,
    **{f"settings/{name}": _or_none(_text) for name in ("clusterer", "null", "scale")},
    **{
        f"settings/{name}": _or_none(_whole)
        for name in ("n_samples", "n_features", "n_components", "n_resamples", "n_tested")
    },
    "settings/sample_fraction": _number,
    "settings/alpha": _number,
}
_FORMS: dict[str, Form] = {
    "arguments": _list_of(_text),
    "input": _object,
    "input/file": _text,
    "input/objects": _whole,
    "input/columns": _list_of(_text),
    "input/categories": _list_of(_text),
    "input/filled": _list_of(_whole),
    "input/id_name": _text,
    "input/hashes": _list_of(_text),
    "settings": _object,
    "settings/method": _text,
    "settings/filling": _or_none(_list_of(_number)),
    "settings/missing": _text,
    "settings/notations": _or_none(_object_of(_text)),
    "settings/consensus": _or_none(_object),
    "settings/consensus/n_clusters": lambda value: type(value) is not int or _whole(value),
    "ensemble": _or_none(_with(objects=_whole, partitions=_whole, fingerprint=_text)),
    "ensemble/clusters": _or_none(_with(smallest=_whole, largest=_whole)),
    "cluster_sizes": _list_of(_whole),
    "labels_sha256": _or_none(_text),
    "objects_without_evidence": _whole,
    "seed": _or_none(_number),
    "mean_confidence": _or_none(_number),
    "mean_confidence_by_chance": _or_none(_number),
    "supports": _list_of(_SUPPORT),
    "number_by": _or_none(_text),
    "gaps": _or_none(_object),
    "gaps/dip": _square,
    "gaps/p_value": _square,
    "gaps/splits": _whole,
    "gaps/draws": _whole,
    "gaps/neighbours": _flags,
    "borders": _or_none(_object),
    "borders/clusters": _whole,
    "borders/alpha": _number,
    "borders/splits": _whole,
    "borders/agreement": _or_none(_number),
    "borders/borders": _whole,
    "borders/held": _whole,
    "borders/clusters_left": _whole,
    "borders/tree": _or_none(_object),
    "borders/tree/alpha": _number,
    "borders/tree/splits": _list_of(_numbers),
    "borders/tree/leaves": _list_of(_list_of(_whole)),
    "agreement_with_known_classes": _or_none(_scores),
    "warnings": _list_of(_text),
    "seconds": _object_of(_number),
    "versions": _object_of(_text),
    **_SELECTION,
    "reason": _or_none(_text),
    "why": _or_none(_text),
    "selection": _or_none(_with(settings=_settings)),
    **{f"selection/{name}": form for name, form in _SELECTION.items()},
}
