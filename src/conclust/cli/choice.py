"""Makes an estimator from ``--method`` and its options; the registry lists the methods."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from types import NoneType
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

if TYPE_CHECKING:
    from conclust._parameters import Parameter
    from conclust.consensus.method import Method

DEFAULT_METHOD = "auto"
"""Default of ``--method``, defined only here."""

# --latent-classes: maximum likelihood, as other programs fit it, and the number of classes up to which BIC is compared.
_LATENT, _MOST_CLASSES = {"smoothing": 0.0, "tol": 1e-10, "max_iter": 5000}, 10

# Parameters with options of their own, which --set does not accept.
_OWN_OPTIONS = {
    "n_clusters": "-k",
    "max_clusters": "--max-clusters",
    "random_state": "--seed",
    "n_jobs": "--jobs",
    "missing": "--missing",
    "verbose": "--verbose",
}


AUTO = "auto"
"""Value of ``-k`` with which the number is chosen by resampling."""


class Choice(NamedTuple):
    """A method and its parameters; with `auto`, the number of clusters is chosen later, of latent `classes` by BIC."""

    method: Method
    parameters: dict[str, Any]
    auto: bool = False
    classes: Sequence[int] = ()

    def estimator(self, *, seed: int | None = None, jobs: int, verbose: int) -> Any:
        """Return the unfitted estimator."""
        from conclust.consensus.method import make

        running = {"random_state": seed, "n_jobs": jobs, "verbose": verbose}
        return make(self.method.estimator, running, **self.parameters)


def find(name: str, refuse: Callable[[str], NoReturn]) -> Method:
    """Return the method with this class name, ignoring case."""
    from conclust.consensus.method import method_named, near_names

    method = method_named(name)
    if method is None:
        near = near_names(name)
        hint = f" Is it {' or '.join(near)}?" if near else ""
        refuse(f"There is no method {name!r}.{hint} 'conclust methods' lists them all.")
    return method


def settable(method: Method) -> dict[str, Parameter]:
    """Return the parameters that ``--set`` accepts: those with a word or a number as value."""
    from conclust._parameters import parameters_of
    from conclust.consensus.method import class_of

    has = parameters_of(class_of(method.estimator))
    return {
        name: parameter
        for name, parameter in has.items()
        if name not in _OWN_OPTIONS and parameter.kinds - {NoneType}
    }


def choose(arguments: argparse.Namespace) -> Choice:
    """Return the choice made on the command line; exit with the usage if options contradict each other."""
    refuse: Callable[[str], NoReturn] = arguments.usage_error
    latent = getattr(arguments, "latent_classes", False)
    if latent and arguments.method is not None:
        refuse("--latent-classes fits a MixtureModel: leave --method out.")
    method = find("MixtureModel" if latent else arguments.method or DEFAULT_METHOD, refuse)
    parameters: dict[str, Any] = {}
    can = settable(method)
    for name, text in _split(arguments.set, refuse):
        if name in _OWN_OPTIONS:
            refuse(f"--set {name}: pass {_OWN_OPTIONS[name]} instead.")
        if name not in can:
            refuse(
                f"--set: {method.estimator} has no parameter {name!r}. It has: "
                f"{', '.join(can) or 'none'}."
            )
        if name in parameters:
            refuse(f"The parameter {name!r} is given twice.")
        parameters[name] = _value(text, can[name].kinds)
        can[name].check(parameters[name], method.estimator)
    by_bic = latent and arguments.clusters is None
    number = {} if by_bic else _number_of_clusters(method, parameters, arguments, refuse)
    if latent:
        last = arguments.clusters or arguments.max_clusters or _MOST_CLASSES
        classes = range(1 if by_bic else last, last + 1)
        return Choice(method, number | _LATENT | parameters, classes=classes)
    return Choice(method, number | parameters, arguments.clusters == AUTO)


def _number_of_clusters(
    method: Method,
    parameters: dict[str, Any],
    arguments: argparse.Namespace,
    refuse: Callable[[str], NoReturn],
) -> dict[str, Any]:
    """Return n_clusters as the method takes it with its other parameters: exactly, at most, or not at all."""
    from conclust.consensus.method import make

    name = method.estimator
    estimator = make(name, **parameters)
    needed = estimator._number_needed()
    number, bound = arguments.clusters, arguments.max_clusters
    if number is not None and bound is not None:
        refuse("-k and --max-clusters both set the number of clusters: give only one of them.")
    if needed == "emerges":
        if number is not None or bound is not None:
            by_set = f" with --set {' --set '.join(arguments.set)}"
            how = by_set if method.n_clusters != needed else ""
            what = "determines the number of clusters itself: omit -k and --max-clusters"
            refuse(f"{name}{how} {what}.")
        return {}
    if number == AUTO:
        if arguments.command != "cluster":
            refuse(
                f"-k auto needs points, but {arguments.command!r} reads labels. Omit -k to let the clusterings determine "
                "the number."
            )
        return {}
    if needed == "upper bound":
        requested = bound if number is None else number
        return {} if requested is None else {"n_clusters": requested}
    if bound is not None:
        if "max_clusters" in estimator.get_params(deep=False):
            return {"max_clusters": bound}
        refuse(f"--max-clusters: {name} makes exactly the given number of clusters: pass -k.")
    if number is not None:
        return {"n_clusters": number}
    if needed == "exact":
        refuse(f"{name} needs the number of clusters: pass -k.")
    return {}


def _split(settings: Sequence[str], refuse: Callable[[str], NoReturn]) -> list[tuple[str, str]]:
    pairs = []
    for text in settings:
        name, equals, value = text.partition("=")
        if not (equals and name.strip() and value.strip()):
            refuse(f"--set takes NAME=VALUE, got {text!r}.")
        pairs.append((name.strip(), value.strip()))
    return pairs


def _value(text: str, kinds: frozenset[type]) -> Any:
    """Parse a value by the type of the parameter: None, a bool, a number, or else a word."""
    words: dict[str, Any] = {}
    if NoneType in kinds:
        words |= {"none": None}
    if bool in kinds:
        words |= {"true": True, "false": False}
    if text.lower() in words:
        return words[text.lower()]
    for kind, numbers in ((int, {int, float}), (float, {float})):
        if kinds & numbers:
            try:
                return kind(text)
            except ValueError:
                continue
    return text
