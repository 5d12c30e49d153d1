"""Critical difference diagrams, against Demsar's worked example, SciPy and numbers of scikit-posthocs."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import friedmanchisquare, wilcoxon

from conclust import plotting as P
from conclust.exceptions import InputError, ParameterError
from conclust.plotting.ranks import mean_ranks

NAMES = ["C4.5", "C4.5+m", "C4.5+cf", "C4.5+m+cf"]
# Demsar (2006), table 6: AUC on 14 data sets; the fourth digit in the row "voting" is that of the printed ranks.
AUC = """.763 .768 .771 .798 .599 .591 .590 .569 .954 .971 .968 .967 .628 .661 .654 .657 .882 .888 .886 .898 .936 .931
.916 .931 .661 .668 .609 .685 .583 .583 .563 .625 .775 .838 .866 .875 1 1 1 1 .940 .962 .965 .962 .619 .666 .614 .669 .972
.981 .9751 .975 .957 .978 .946 .970"""
TABLE = pd.DataFrame(np.array(AUC.split(), dtype=float).reshape(14, 4), columns=NAMES)


def test_demsars_example():
    found = mean_ranks(TABLE)
    ranks = dict(zip(found.methods, found.ranks, strict=True))
    assert [round(ranks[name], 3) for name in NAMES] == [3.143, 2.0, 2.893, 1.964]
    assert found.critical_difference == pytest.approx(1.25, abs=0.005)
    assert 12 * 14 / 20 * ((found.ranks**2).sum() - 25) == pytest.approx(9.28, abs=0.005)
    assert found.groups == ((0, 3),)
    assert found.p_value == pytest.approx(friedmanchisquare(*TABLE.to_numpy().T).pvalue)
    assert mean_ranks(-TABLE, largest=False).methods == found.methods
    # posthoc_nemenyi_friedman of scikit-posthocs 0.17.1, of the table of three digits
    of_posthocs = [0.061683, 0.088673, 0.170052, 0.971686, 0.226697, 0.998882]
    actual = mean_ranks(TABLE.round(3)).p_values[np.triu_indices(4, 1)]
    np.testing.assert_allclose(sorted(actual), sorted(of_posthocs), atol=1e-6)


def test_wilcoxon_is_scipys_with_holms_adjustment_and_groups_are_the_largest_alike():
    rng = np.random.default_rng(0)
    scores = rng.normal([0, 0.1, 0.6, 1.5, 1.6], size=(25, 5))
    scores[:, 1] = scores[:, 0]  # no difference at all
    found = mean_ranks(dict(zip("abcde", scores.T, strict=True)), test="wilcoxon")
    at = ["abcde".index(name) for name in found.methods]
    a, b = np.triu_indices(5, 1)
    p = [1.0 if {at[i], at[j]} == {0, 1} else wilcoxon(scores[:, at[i]] - scores[:, at[j]]).pvalue for i, j in zip(a, b, strict=True)]  # fmt: skip
    order = np.argsort(p)
    expected = np.empty(10)
    expected[order] = np.minimum(np.maximum.accumulate(np.sort(p) * np.arange(10, 0, -1)), 1)
    np.testing.assert_allclose(found.p_values[a, b], expected)
    runs = [(i, j) for i, j in zip(a, b, strict=True) if (found.p_values[i : j + 1, i : j + 1] > 0.05).all()]  # fmt: skip
    within = [(u, v) for u, v in runs for i, j in runs if (i, j) != (u, v) and i <= u and v <= j]
    assert sorted(found.groups) == sorted({*runs} - {*within})


def test_bars_are_over_groups_and_names_are_written():
    ax = P.critical_difference(TABLE)
    bars = [line.get_xdata() for line in ax.lines if line.get_linewidth() == 3]
    np.testing.assert_allclose(bars, [[1.964 - 0.03, 3.143 + 0.03]], atol=1e-3)
    assert {text.get_text().strip("0123456789 .") for text in ax.texts} >= {"C4.5+m", "C4.5+cf"}


@pytest.mark.parametrize("scores", [TABLE[:1], TABLE[["C4.5"]], TABLE.replace(1, np.nan), [1, 2], [["a", "b"]] * 2, {}])  # fmt: skip
def test_tables_without_a_score_for_each_are_refused(scores):
    with pytest.raises(InputError, match=r"(?i)score"):
        mean_ranks(scores)


def test_parameters_are_checked():
    with pytest.raises(ParameterError, match="'test' parameter of critical_difference"):
        P.critical_difference(TABLE, test="t")
