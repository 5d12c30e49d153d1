"""The catalogue of published sets, none of which is part of conclust."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


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


BUNDLED = {
    "breast_cancer": "Wisconsin diagnostic breast cancer (569 x 30, 2 classes), with scikit-learn",
    "digits": "handwritten digits of 8 x 8 pixels (1797 x 64, 10 classes), with scikit-learn",
    "iris": "Fisher's iris flowers (150 x 4, 3 classes), with scikit-learn",
    "wine": "chemical analyses of wines (178 x 13, 3 classes), with scikit-learn",
}

_UCI = "UCI Machine Learning Repository"
_EAC = "with the evidence-accumulation papers of A. Fred and A. K. Jain"
_CLUSTERING = "the public collection of clustering benchmarks by T. Barton"
_POOL = (
    "Huang, Wang, Lai: Locally weighted ensemble clustering, IEEE Trans. Cybernetics 48(5), 2018, "
    "code of the authors"
)


def _pool(of: str, n: int, k: int) -> Published:
    what = f"100 ready k-means partitions of {of}, with random numbers of clusters"
    return Published("pool", n, 100, k, what, _POOL)


PUBLISHED: dict[str, Published] = {
    "breast_cancer_683": Published(
        "table", 683, 9, 2, "Wisconsin breast cancer (original), the complete rows", _UCI
    ),
    "breast_cancer_699": Published(
        "table", 699, 9, 2, "Wisconsin breast cancer (original), 16 values missing", _UCI
    ),
    "cigar": Published("table", 250, 2, 4, "two long and two small groups", _EAC),
    "glass": Published("table", 214, 9, 6, "oxides of six kinds of glass", f"{_UCI}, Glass"),
    "golub_leukemia": Published(
        "arrays", 72, 7129, 2, "gene expression of two leukaemias", "Golub et al., Science 1999"
    ),
    "half_rings_jain": Published("table", 400, 2, 2, "two half rings", _EAC, file="half_rings"),
    "hgsc_tcga": Published(
        "arrays",
        489,
        321,
        4,
        "gene expression of ovarian tumours; its classes were found by consensus clustering",
        "TCGA, Nature 2011; the R package diceR",
    ),
    "house_votes_232": Published(
        "table", 232, 16, 2, "votes in the US congress of 1984, the complete rows", _UCI
    ),
    "house_votes_435": Published(
        "table", 435, 16, 2, "votes in the US congress of 1984, 392 values missing", _UCI
    ),
    "ionosphere": Published("table", 351, 34, 2, "radar returns, good or bad", _UCI),
    "iris_uci": Published(
        "table",
        150,
        4,
        3,
        "iris flowers as typed there, two rows unlike Fisher's",
        _UCI,
        file="iris",
    ),
    "isolet_1560": Published(
        "arrays", 1560, 617, 26, "spoken letters, part of ISOLET", "ASU feature selection site"
    ),
    "kdd99_10percent": Published(
        "table",
        494021,
        41,
        23,
        "network connections of KDD Cup 1999, the tenth part, all 41 features",
        "UCI KDD archive",
        ("protocol_type", "service", "flag"),
    ),
    "khan_srbct": Published(
        "arrays",
        63,
        2308,
        4,
        "gene expression of small round blue cell tumours",
        "Khan et al., Nature Medicine 2001",
    ),
    "mfeat": Published("arrays", 2000, 649, 10, "handwritten numerals, six views", _UCI),
    "mini_newsgroups": Published(
        "counts", 2000, 3778, 20, "word counts of messages in 20 newsgroups", "UCI KDD archive"
    ),
    "mnist_test_10000": Published(
        "arrays", 10000, 784, 10, "handwritten digits, the test part of MNIST", "LeCun et al."
    ),
    "optdigits_1000": Published(
        "table", 1000, 64, 10, "optical digits, the first 100 of each", f"{_UCI}, Optdigits"
    ),
    "optdigits_5620": Published("table", 5620, 64, 10, "optical digits", f"{_UCI}, Optdigits"),
    "pendigits": Published("table", 10992, 16, 10, "digits written with a pen", _UCI),
    "pool_lwea_caltech20": _pool("20 classes of Caltech 101", 2386, 20),
    "pool_lwea_covertype": _pool("forest cover types", 3780, 7),
    "pool_lwea_isolet": _pool("ISOLET, spoken letters", 7797, 26),
    "pool_lwea_mfeat": _pool("mfeat", 2000, 10),
    "pool_lwea_mnist": _pool("5000 MNIST digits", 5000, 10),
    "pool_lwea_optdigits": _pool("optdigits, with rows in a different order", 5620, 10),
    "pool_lwea_pendigits": _pool("pendigits, with rows in a different order", 10992, 10),
    "pool_lwea_steel_plates": _pool("steel_plates", 1941, 7),
    "pool_lwea_texture": _pool("texture", 5500, 11),
    "pool_lwea_usps": _pool("usps_11000", 11000, 10),
    "sc_treutlein": Published(
        "arrays", 80, 23271, 5, "single lung cells, FPKM", "Treutlein et al., Nature 2014"
    ),
    "sc_yan": Published(
        "arrays", 90, 20214, 6, "single cells of human embryos, RPKM", "Yan et al., NSMB 2013"
    ),
    "seeds": Published("table", 210, 7, 3, "kernels of three kinds of wheat", _UCI),
    "spiral": Published(
        "table", 200, 2, 2, "two spirals", "with the papers of A. Topchy, A. K. Jain, W. Punch"
    ),
    "standin_image_1_complex8": Published(
        "table", 2551, 2, 8, "complex8, in place of the papers' image-1", _CLUSTERING
    ),
    "standin_image_c_aggregation": Published(
        "table", 788, 2, 7, "aggregation, in place of the papers' image-c", _CLUSTERING
    ),
    "standin_rings_1000": Published(
        "table", 1000, 2, 3, "three rings, in place of the papers'", _CLUSTERING
    ),
    "standin_rings_zelnik1": Published(
        "table", 299, 2, 3, "zelnik1, in place of the papers' rings", _CLUSTERING
    ),
    "std_yeast_cell": Published(
        "table",
        384,
        17,
        5,
        "expression of yeast genes over the cell cycle, standardised",
        "Yeung et al., Bioinformatics 17, 2001",
    ),
    "steel_plates": Published("table", 1941, 27, 7, "faults of steel plates", _UCI),
    "su_multitissue": Published(
        "arrays", 102, 5565, 4, "gene expression of four tissues", "Su et al., PNAS 2002"
    ),
    "texture": Published("table", 5500, 40, 11, "textures of Brodatz", "ELENA project, KEEL"),
    "usps_11000": Published(
        "arrays", 11000, 256, 10, "digits of postal codes", "S. Roweis' version of USPS"
    ),
    "webkb_1041": Published(
        "counts", 1041, 2134, 4, "word counts of web pages", "CMU 4 universities data"
    ),
    "yeast_uci": Published("table", 1484, 8, 10, "where proteins of yeast are found", _UCI),
    "zoo": Published("table", 101, 16, 7, "animals by their traits", _UCI),
}
