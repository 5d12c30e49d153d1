"""Divergences of the pair objective, between an observed frequency p and a probability q.

Lourenço et al., "Probabilistic consensus clustering using evidence accumulation", Machine Learning
98 (2015), Table 1. Their Bregman divergences compare (p, 1 - p) with (q, 1 - q), so that only one
number on each side is free. Two things follow that the table does not show: the generalised
I-divergence is the Kullback-Leibler divergence, and every Mahalanobis divergence is a multiple of
the squared distance.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass, field
from functools import partial
from typing import Any, ClassVar, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from conclust._types import Bools, Floats
from conclust._validation import check_real, refuse
from conclust.exceptions import ParameterError

__all__ = ["Divergence", "built_in", "i", "kl", "l2", "mahalanobis", "power"]

_Called: TypeAlias = Callable[[int, Floats, Floats, Floats], None]
_Function: TypeAlias = Callable[[Floats, Floats], Any]

# Codes of _kernels/pair_objective/divergence.h.
_L2, _KL, _POWER = 0, 1, 2


@dataclass(frozen=True)
class _Kernel:
    """A built-in divergence of the kernels: scale times the one with this code and parameter."""

    code: int
    parameter: float = 2.0
    scale: float = 1.0


@dataclass(frozen=True)
class Divergence:
    """A divergence d(p, q) between a frequency p and a probability q.

    It must be 0 where q = p, non-negative, and convex in q; this is checked on a grid at construction. The functions
    take two arrays of the same shape and return one; they are called for thousands of pairs at once, with p in [0, 1]
    and q in [1e-12, 1 - 1e-12].

    Parameters
    ----------
    value : callable
        d(p, q).
    derivative : callable
        The derivative of d with respect to q.
    curvature : callable, default=None
        The second derivative with respect to q. None: it is computed from differences of `derivative`. It affects the speed of
        a solver, not its result.
    name : str, default="user"
        Name in messages.

    Raises
    ------
    ParameterError
        If a function does not return finite numbers of the right shape, or d is negative, not 0 at
        q = p, or not convex in q, or the derivatives do not agree with the values; the message says
        where.

    References
    ----------
    Lourenço et al., Machine Learning 98 (2015), section 4 (equation 2) and Table 1.

    Examples
    --------
    >>> from conclust.divergences import Divergence
    >>> squared = Divergence(lambda p, q: (p - q) ** 2, lambda p, q: 2 * (q - p))
    >>> squared
    Divergence(name='user')
    >>> Divergence(lambda p, q: abs(p - q) ** 0.5, lambda p, q: 0.5 * abs(p - q) ** -0.5)
    Traceback (most recent call last):
    ...
    conclust.exceptions.ParameterError: The derivative of the divergence 'user' must be finite. At p=0.05, q=0.05 it is inf.
    """

    value: _Function = field(repr=False)
    derivative: _Function = field(repr=False)
    curvature: _Function | None = field(default=None, repr=False)
    _: KW_ONLY
    name: str = "user"

    # Code in the kernels, which implement only the built-in divergences.
    _kernel: ClassVar[_Kernel | None] = None

    def __post_init__(self) -> None:
        _check(self)

    def packed(self) -> dict[str, Any] | None:
        """Return a built-in divergence as plain values; None for a user's functions."""
        return None if self._kernel is None else {"name": self.name, **vars(self._kernel)}

    @staticmethod
    def unpacked(parts: dict[str, Any]) -> Divergence:
        """Undo `packed`."""
        name, kernel = (
            str(parts["name"]),
            _Kernel(**{k: v for k, v in parts.items() if k != "name"}),
        )
        if kernel.code == _L2:
            return _squared(name, check_real(kernel.scale, "scale", name))
        return power(kernel.parameter) if kernel.code == _POWER else built_in[name]

    def _called(self) -> _Called:
        """Return the function that a kernel calls: (0 value, 1 derivative, 2 curvature; p, q, out)."""
        functions = (self.value, self.derivative, self.curvature or self._differences)
        names = ("value", "derivative", "curvature")

        def call(what: int, p: Floats, q: Floats, out: Floats) -> None:
            # Copies, because the function may keep its arguments: the kernel reuses their memory, and frees it.
            out[:] = functions[what](p.copy(), q.copy())
            if not math.isfinite(out.sum()):
                _demand(self, names[what], "be finite", np.isfinite(out), p, q, out)

        return call

    def _differences(self, p: Floats, q: Floats) -> Floats:
        step = 1e-4 * np.minimum(q, 1 - q)
        rise = np.asarray(self.derivative(p, q + step)) - np.asarray(self.derivative(p, q - step))
        bend: Floats = rise / (2 * step)
        return bend


def _known(
    value: _Function, derivative: _Function, curvature: _Function, name: str, kernel: _Kernel
) -> Divergence:
    """Return a built-in divergence, which needs no check."""
    divergence = object.__new__(Divergence)
    functions = {"value": value, "derivative": derivative, "curvature": curvature}
    for key, content in {**functions, "name": name, "_kernel": kernel}.items():
        object.__setattr__(divergence, key, content)
    return divergence


def _l2_value(p: Any, q: Any, scale: float) -> Any:
    return scale * (p - q) ** 2


def _l2_derivative(p: Any, q: Any, scale: float) -> Any:
    return 2.0 * scale * (q - p)


def _l2_curvature(p: Any, q: Any, scale: float) -> Any:
    return np.full(np.broadcast(p, q).shape, 2.0 * scale)


def _squared(name: str, scale: float) -> Divergence:
    return _known(
        partial(_l2_value, scale=scale),
        partial(_l2_derivative, scale=scale),
        partial(_l2_curvature, scale=scale),
        name,
        _Kernel(_L2, scale=scale),
    )


def _kl_value(p: Any, q: Any) -> Any:
    from scipy.special import rel_entr

    return rel_entr(p, q) + rel_entr(1 - p, 1 - q)


def _kl_derivative(p: Any, q: Any) -> Any:
    return (1 - p) / (1 - q) - p / q


def _kl_curvature(p: Any, q: Any) -> Any:
    return p / q**2 + (1 - p) / (1 - q) ** 2


def _power_half(x: Any, y: Any, a: float) -> Any:
    return (x**a - y**a - a * (x - y) * y ** (a - 1)) / (a * (a - 1))


def _power_value(p: Any, q: Any, a: float) -> Any:
    return _power_half(p, q, a) + _power_half(1 - p, 1 - q, a)


def _power_derivative(p: Any, q: Any, a: float) -> Any:
    return (q ** (a - 2) + (1 - q) ** (a - 2)) * (q - p)


def _power_curvature(p: Any, q: Any, a: float) -> Any:
    r, o = 1 - q, 1 - p
    return q ** (a - 3) * ((a - 1) * q + (2 - a) * p) + r ** (a - 3) * ((a - 1) * r + (2 - a) * o)


def _relative(name: str) -> Divergence:
    return _known(_kl_value, _kl_derivative, _kl_curvature, name, _Kernel(_KL))


l2: Divergence = _squared("l2", 1.0)
"""(p - q)^2: the divergence of the paper's equation (4), half of the one in its Table 1."""

kl: Divergence = _relative("kl")
"""p log(p/q) + (1-p) log((1-p)/(1-q)): the negative log-likelihood of binomial counts."""

i: Divergence = _relative("i")
"""The generalised I-divergence; on (p, 1 - p) and (q, 1 - q) it is `kl`."""


def mahalanobis(A: ArrayLike = ((1.0, 0.0), (0.0, 1.0))) -> Divergence:
    """Return the Mahalanobis divergence (x - z)'A(x - z) of x = (p, 1 - p) and z = (q, 1 - q).

    It is s (p - q)^2 with s = A[0, 0] - A[0, 1] - A[1, 0] + A[1, 1]: `l2`, scaled.

    Parameters
    ----------
    A : array-like of shape (2, 2), default=identity
        A symmetric matrix with s > 0: the paper's "positive semidefinite" allows d = 0 everywhere.

    Returns
    -------
    Divergence
        It has the solutions of `l2`, and s times the objective of `l2`.

    Raises
    ------
    ParameterError
        If A is not a symmetric 2 x 2 matrix of finite numbers, or s is not positive.

    Examples
    --------
    >>> from conclust.divergences import mahalanobis
    >>> float(mahalanobis([[2, 0], [0, 1]]).value(0.5, 0.25))
    0.1875
    """
    matrix = np.asarray(A)
    if (
        matrix.shape != (2, 2)
        or matrix.dtype.kind not in "iuf"
        or not np.isfinite(matrix).all()
        or matrix[0, 1] != matrix[1, 0]
    ):
        refuse("A", "mahalanobis", "a symmetric 2 x 2 matrix of finite numbers", A)
    s = float(matrix[0, 0] - 2 * matrix[0, 1] + matrix[1, 1])
    if not s > 0:
        refuse("A", "mahalanobis", "a matrix with A[0,0] - 2 A[0,1] + A[1,1] > 0", A)
    return _squared("mahalanobis", s)


def power(a: float = 1.5) -> Divergence:
    """Return the power divergence: between `kl` (a towards 1) and `l2` (a = 2).

    The Bregman divergence of h(q) = (q^a + (1-q)^a - 1) / (a (a - 1)), convex in both arguments.

    Parameters
    ----------
    a : float, default=1.5
        In (1, 2]: larger values reduce the weight of pairs with a probability near 0 or 1. For a = 1
        use `kl`; below 1.000001 the difference cannot be computed.

    Returns
    -------
    Divergence
        The divergence.

    Raises
    ------
    ParameterError
        If `a` is out of its range.

    Examples
    --------
    >>> from conclust.divergences import power
    >>> float(power(2).value(0.5, 0.25))
    0.0625
    """
    a = check_real(a, "a", "power", low=1.000001, high=2.0)
    return _known(
        partial(_power_value, a=a),
        partial(_power_derivative, a=a),
        partial(_power_curvature, a=a),
        "power",
        _Kernel(_POWER, a),
    )


DivergenceName: TypeAlias = Literal["kl", "l2", "mahalanobis", "i", "power"]
built_in: dict[str, Divergence] = {
    "kl": kl,
    "l2": l2,
    "mahalanobis": mahalanobis(),
    "i": i,
    "power": power(),
}
"""The named divergences: for "mahalanobis" A is the identity, for "power" a = 1.5."""


def read_divergence(divergence: Any, owner: str) -> Divergence:
    """Return the divergence of a name, or the given one."""
    if isinstance(divergence, str) and divergence in built_in:
        return built_in[divergence]
    if not isinstance(divergence, Divergence):
        names = ", ".join(repr(name) for name in sorted(built_in))
        refuse(
            "divergence",
            owner,
            f"one of {{{names}}} or a conclust.divergences.Divergence",
            divergence,
        )
    return divergence


def is_squared(divergence: Divergence) -> bool:
    """Return whether a divergence is l2 up to a factor, which the factored solver needs."""
    return divergence._kernel is not None and divergence._kernel.code == _L2


# ---------------------------------------------------------------------------- custom divergences

_P = np.linspace(0.0, 1.0, 21)
_Q = np.concatenate([[1e-4, 1e-3], np.linspace(0.01, 0.99, 99), [1 - 1e-3, 1 - 1e-4]])
_STEP = 1e-6


def _check(divergence: Divergence) -> None:
    """Check a user's divergence on a grid."""
    owner = "Divergence"
    if not isinstance(divergence.name, str):
        refuse("name", owner, "a str", divergence.name)
    for what in ("value", "derivative", "curvature"):
        function = getattr(divergence, what)
        if not (callable(function) or (what == "curvature" and function is None)):
            refuse(what, owner, "a function of two arrays", function)
    p, q = (part.ravel() for part in np.meshgrid(_P, _Q, indexing="ij"))
    d = _called(divergence, "value", p, q)
    inside = _P[1:-1]
    same = _called(divergence, "value", inside, inside)
    slope = _called(divergence, "derivative", p, q)
    step = _STEP * np.minimum(q, 1 - q)
    above, below = (_called(divergence, "value", p, q + sign * step) for sign in (1, -1))
    size = np.abs(slope) + np.abs(d) / np.minimum(q, 1 - q) + 1.0
    _demand(divergence, "value", "be at least 0", d >= -1e-9, p, q, d)
    _demand(divergence, "value", "be 0 where q = p", np.abs(same) <= 1e-9, inside, inside, same)
    estimate = (above - below) / (2 * step)
    agree = np.abs(estimate - slope) <= 1e-3 * size
    _demand(divergence, "derivative", "agree with differences of the value", agree, p, q, slope)
    rows = slope.reshape(len(_P), -1)
    falls = np.zeros(rows.shape, dtype=bool)
    falls[:, 1:] = np.diff(rows, axis=1) < -1e-9 * (np.abs(rows[:, 1:]) + 1.0)
    _demand(
        divergence,
        "value",
        "be convex in q (its derivative must not fall)",
        ~falls.ravel(),
        p,
        q,
        slope,
    )
    if divergence.curvature is not None:
        bend = _called(divergence, "curvature", p, q)
        above, below = (_called(divergence, "derivative", p, q + sign * step) for sign in (1, -1))
        _demand(divergence, "curvature", "be at least 0", bend >= 0, p, q, bend)
        estimate = (above - below) / (2 * step)
        agree = np.abs(estimate - bend) <= 1e-2 * (np.abs(bend) + np.abs(estimate) + 1.0)
        _demand(
            divergence, "curvature", "agree with differences of the derivative", agree, p, q, bend
        )


def _called(divergence: Divergence, what: str, p: Floats, q: Floats) -> Floats:
    p, q = p.copy(), q.copy()
    with np.errstate(all="ignore"):
        values = np.asarray(getattr(divergence, what)(p, q))
    if values.shape != p.shape or values.dtype.kind not in "iuf":
        raise ParameterError(
            f"The {what} of the divergence {divergence.name!r} must return an array of {len(p)} numbers "
            f"for {len(p)} pairs. Got an array of shape {values.shape} and type {values.dtype} instead."
        )
    _demand(divergence, what, "be finite", np.isfinite(values), p, q, values)
    return values.astype(np.float64)


def _demand(
    divergence: Divergence,
    what: str,
    must: str,
    holds: Bools,
    p: Floats,
    q: Floats,
    values: NDArray[Any],
) -> None:
    """Refuse a user's divergence that violates a condition.

    Parameters
    ----------
    divergence : Divergence
        The divergence.
    what, must : str
        The quantity and its condition, for the message.
    holds : ndarray of bool
        Where the condition holds.
    p, q, values : ndarray
        The arguments, and the values at them.
    """
    if not holds.all():
        at = int(np.argmin(holds))
        raise ParameterError(
            f"The {what} of the divergence {divergence.name!r} must {must}. At p={p[at]:.6g}, "
            f"q={q[at]:.6g} it is {values[at]:.6g}."
        )


def __dir__() -> list[str]:
    return __all__
