"""The measures by definition, pair by pair and permutation by permutation."""

from itertools import combinations, permutations
from math import log, log2, sqrt


def comparable(a, b):
    """Drop objects missing from either, and give every noise object a unique name."""
    kept = [(x, y) for x, y in zip(a, b, strict=True) if x != -1 and y != -1]
    left = [("noise", i) if x == -2 else x for i, (x, _) in enumerate(kept)]
    right = [("noise", i) if y == -2 else y for i, (_, y) in enumerate(kept)]
    return left, right


def overlap(a, b, k, j):
    return sum(x == k and y == j for x, y in zip(a, b, strict=True))


def consistency_index(a, b):
    a, b = comparable(a, b)
    names_a, names_b = sorted(set(a), key=str), sorted(set(b), key=str)
    if len(names_a) > len(names_b):
        a, b, names_a, names_b = b, a, names_b, names_a
    cells = {(k, j): overlap(a, b, k, j) for k in names_a for j in names_b}
    best = max(
        sum(cells[k, j] for k, j in zip(names_a, chosen, strict=True))
        for chosen in permutations(names_b, len(names_a))
    )
    return best / len(a)


def pairs(a, b):
    a, b = comparable(a, b)
    both = only_a = only_b = neither = 0
    for i, j in combinations(range(len(a)), 2):
        in_a, in_b = a[i] == a[j], b[i] == b[j]
        both += in_a and in_b
        only_a += in_a and not in_b
        only_b += in_b and not in_a
        neither += not in_a and not in_b
    return both, only_a, only_b, neither


def class_f1(a, b):
    a, b = comparable(a, b)
    total = 0.0
    for k in set(a):
        total += a.count(k) * max(
            2 * overlap(a, b, k, j) / (a.count(k) + b.count(j)) for j in set(b)
        )
    return total / len(a)


def purity(a, b):
    a, b = comparable(a, b)
    return sum(max(overlap(a, b, k, j) for k in set(a)) for j in set(b)) / len(a)


def bcubed_precision(a, b):
    """Object by object, as in section 4.4 of Amigo et al."""
    a, b = comparable(a, b)
    total = 0.0
    for i in range(len(a)):
        cluster = [j for j in range(len(b)) if b[j] == b[i]]
        total += sum(a[j] == a[i] for j in cluster) / len(cluster)
    return total / len(a)


def entropy(a):
    return -sum(a.count(k) / len(a) * log(a.count(k) / len(a)) for k in set(a))


def mutual_information(a, b):
    n = len(a)
    total = 0.0
    for k in set(a):
        for j in set(b):
            actual = overlap(a, b, k, j)
            if actual:
                total += actual / n * log(n * actual / (a.count(k) * b.count(j)))
    return total


def nmi(a, b, average="geometric"):
    a, b = comparable(a, b)
    if len(set(a)) == len(set(b)) == 1:
        return 1.0
    if len(set(a)) == 1 or len(set(b)) == 1:
        return 0.0
    h, g = entropy(a), entropy(b)
    means = {
        "geometric": sqrt(h * g),
        "arithmetic": (h + g) / 2,
        "max": max(h, g),
        "min": min(h, g),
    }
    return mutual_information(a, b) / means[average]


def variation_of_information(a, b):
    a, b = comparable(a, b)
    return (entropy(a) + entropy(b) - 2 * mutual_information(a, b)) / log(2)


def js(p, q):
    def kl(x, y):
        return sum(s * log2(s / t) for s, t in zip(x, y, strict=True) if s > 0)

    middle = [(s + t) / 2 for s, t in zip(p, q, strict=True)]
    return (kl(p, middle) + kl(q, middle)) / 2


def js_divergence(Z, Y):
    size = max(len(Z[0]), len(Y[0]))
    Z = [list(row) + [0.0] * (size - len(row)) for row in Z]
    Y = [list(row) + [0.0] * (size - len(row)) for row in Y]
    return min(
        sum(js(z, [y[k] for k in order]) for z, y in zip(Z, Y, strict=True))
        for order in permutations(range(size))
    ) / len(Z)


def vat_order(D):
    n = len(D)
    start = max(range(n), key=lambda i: max((D[i][j] for j in range(n) if j != i), default=0))
    order = [start]
    while len(order) < n:
        rest = [j for j in range(n) if j not in order]
        order.append(min(rest, key=lambda j: min(D[i][j] for i in order)))
    return order
