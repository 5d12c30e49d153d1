"""Every public consensus estimator, in every form that the common battery runs. A public estimator
that is missing here fails `test_battery.py`.
"""

from __future__ import annotations

import inspect
import os

import conclust
from conclust.consensus.base import ConsensusClusterer

# name of the form -> (class, parameters). `n_clusters` is set by the battery.
FORMS: dict[str, tuple[str, dict[str, object]]] = {
    "PCC l2": ("PCC", {"divergence": "l2", "random_state": 0}),
    "PCC kl": ("PCC", {"random_state": 0}),
    "PCC power": ("PCC", {"divergence": "power", "random_state": 0}),
    "PCC l2, sampled pairs": ("PCC", {"divergence": "l2", "pairs": 30, "random_state": 0}),
    "PCC kl, landmarks": ("PCC", {"solver": "landmark", "random_state": 0}),
    "PCC kl, greedy": ("PCC", {"solver": "greedy", "max_iter": 1000, "random_state": 0}),
    "PEACE": ("PEACE", {"random_state": 0, "n_init": 2}),
    "WeightedPCC simplex": ("WeightedPCC", {"random_state": 0}),
    "WeightedPCC, sampled pairs": ("WeightedPCC", {"pairs": 30, "random_state": 0}),
    "WeightedPCC l2": ("WeightedPCC", {"regularization": "l2", "random_state": 0}),
    "BaumEagon": ("BaumEagon", {"random_state": 0, "n_init": 1, "max_iter": 20_000}),
    "EAC single": ("EAC", {"linkage": "single"}),
    "EAC average": ("EAC", {"linkage": "average"}),
    "EAC complete": ("EAC", {"linkage": "complete"}),
    "EAC ward": ("EAC", {"linkage": "ward"}),
    "EAC single, sampled pairs": ("EAC", {"linkage": "single", "pairs": 30, "random_state": 0}),
    "EAC average, sampled pairs": ("EAC", {"linkage": "average", "pairs": 30, "random_state": 0}),
    "MultiEAC": ("MultiEAC", {}),
    "MultiEAC stable": ("MultiEAC", {"cluster_weights": "stable"}),
    "MultiEAC jaccard, ward": ("MultiEAC", {"cluster_weights": "jaccard", "linkage": "ward"}),
    "LWEA": ("LWEA", {}),
    "LWEA normalized": ("LWEA", {"normalized": True}),
    "Auto": ("AutoConsensus", {"random_state": 0}),
    "Auto on a part": ("AutoConsensus", {"max_samples": 60, "random_state": 0}),
    "WeightedEAC": ("WeightedEAC", {}),
    "WeightedEAC single": ("WeightedEAC", {"linkage": "single"}),
    "WEAC": ("WEAC", {}),
    "FCA": ("FCAConsensus", {"threshold": 0.5}),
    "FCA by size": ("FCAConsensus", {"threshold": 0.5, "order": "size"}),
    "FCA auto": ("FCAConsensus", {}),
    "HBGF": ("HBGF", {"random_state": 0}),
    "HBGF transfer cut": ("HBGF", {"joint": False, "random_state": 0}),
    "HBGF balanced": ("HBGF", {"partitioner": "internal", "balance": 0.5, "random_state": 0}),
    "LWGP": ("LWGP", {"random_state": 0}),
    "GPMGLA": ("GPMGLA", {"random_state": 0}),
    "MDEC": ("MDEC", {}),
    "MDEC spectral": ("MDEC", {"consensus": "spectral", "random_state": 0}),
    "MDEC bipartite": ("MDEC", {"consensus": "bipartite", "random_state": 0}),
    "LCE": ("LCE", {"random_state": 0}),
    "LCE wtq": ("LCE", {"similarity": "wtq", "random_state": 0}),
    **{
        f"LCE {similarity}, {linkage}": (
            "LCE",
            {"similarity": similarity, "consensus": "hierarchical", "linkage": linkage},
        )
        for similarity, linkage in (
            ("cts", "average"),
            ("wtq", "average"),
            ("srs", "average"),
            ("asrs", "average"),
            ("cts", "complete"),
            ("cts", "single"),
        )
    },
    "ECPCS": ("ECPCS", {"random_state": 0}),
    "ECPCS hierarchical": ("ECPCS", {"consensus": "hierarchical"}),
    "ECCMS": ("ECCMS", {}),
    "DREC": ("DREC", {"random_state": 0}),
    "SPCE": ("SPCE", {"random_state": 0}),
    "PTA": ("PTA", {}),
    "PTA complete": ("PTA", {"linkage": "complete"}),
    "PTA single": ("PTA", {"linkage": "single"}),
    "PTGP": ("PTGP", {"random_state": 0}),
    "MCLA": ("MCLA", {"random_state": 0}),
    "MCLA spectral": ("MCLA", {"partitioner": "spectral", "random_state": 0}),
    "CSPA": ("CSPA", {"random_state": 0}),
    "CSPA wide": ("CSPA", {"balance": 0.5, "random_state": 0}),
    "CSPA spectral": ("CSPA", {"partitioner": "spectral", "random_state": 0}),
    "CSPA sampled pairs": ("CSPA", {"pairs": 30, "balance": 0.5, "random_state": 0}),
    "HGPA": ("HGPA", {"random_state": 0}),
    "QMI": ("QMI", {"random_state": 0}),
    "ITK": ("InformationTheoreticKMeans", {"random_state": 0}),
    "KCC": ("KCC", {"random_state": 0}),
    "KCC category": ("KCC", {"utility": "U_c", "random_state": 0}),
    "KCC cosine": ("KCC", {"utility": "U_cos", "normalized": True, "random_state": 0}),
    "KCC norm": ("KCC", {"utility": "U_Lp", "random_state": 0}),
    "SEC": ("SEC", {"random_state": 0}),
    "MixtureModel": ("MixtureModel", {"random_state": 0}),
    "BayesianEnsemble": ("BayesianEnsemble", {"random_state": 0}),
    "BayesianEnsemble Gibbs": (
        "BayesianEnsemble",
        {"solver": "gibbs", "n_burn_in": 50, "n_draws": 50, "random_state": 0},
    ),
    "NonparametricBayesianEnsemble": ("NonparametricBayesianEnsemble", {"random_state": 0}),
    "Voting": ("Voting", {"random_state": 0}),
    "Voting hard": ("Voting", {"hard": True, "random_state": 0}),
    "Voting one pass": ("Voting", {"algorithm": "one_pass", "random_state": 0}),
    **{
        f"CumulativeVoting {scheme}": ("CumulativeVoting", {"scheme": scheme})
        for scheme in ("urcv", "rcv", "acv", "bvote", "lwcv")
    },
    "CEHM": ("CEHM", {}),
    "CEs2": ("CEs2", {}),
    "CEs2 quadratic": ("CEs2", {"determinacy": "quadratic"}),
    "PositionalVoting Borda": ("PositionalVoting", {"random_state": 0}),
    "PositionalVoting Condorcet": ("PositionalVoting", {"count": "condorcet", "random_state": 0}),
    "AddRemAdd": ("AddRemAdd", {"random_state": 0}),
    "AddRemAdd extraction": ("AddRemAdd", {"refine": False, "random_state": 0}),
    "AddRemAdd combined": ("AddRemAdd", {"criterion": "combined", "random_state": 0}),
    "BayesEstimate": ("BayesEstimate", {"random_state": 0}),
    "BayesEstimate binder": ("BayesEstimate", {"loss": "binder", "random_state": 0}),
    "BayesEstimate nid": ("BayesEstimate", {"loss": "nid", "n_init": 4, "random_state": 0}),
    "MedianPartition": ("MedianPartition", {"random_state": 0}),
    "KernelWeightedPartition": ("KernelWeightedPartition", {"random_state": 0}),
    "KernelWeightedPartition subsets": (
        "KernelWeightedPartition",
        {"kernel": "subsets", "random_state": 0},
    ),
    "WeightedNMF": ("WeightedNMF", {"random_state": 0}),
    "NMF": ("WeightedNMF", {"learn_weights": False, "random_state": 0}),
    "FuzzyCommunities": ("FuzzyCommunities", {"random_state": 0}),
    "FuzzyRows cmeans": ("FuzzyRows", {"random_state": 0}),
    "FuzzyRows cmedoids": ("FuzzyRows", {"kind": "cmedoids", "random_state": 0}),
    "FuzzyRows weighted": ("FuzzyRows", {"kind": "weighted_medoids", "random_state": 0}),
    "LeftStochastic": ("LeftStochastic", {"random_state": 0}),
    "DyadicAspect": ("DyadicAspect", {"random_state": 0}),
}


def asked_for(*, of_each_class: bool = False) -> list[str]:
    """Return the forms on which a law is tested: all, or one of each class with CONCLUST_FORMS=first."""
    if not of_each_class and os.environ.get("CONCLUST_FORMS") != "first":
        return sorted(FORMS)
    first: dict[str, str] = {}
    for form, (name, _) in FORMS.items():
        first.setdefault(name, form)
    return sorted(first.values())


# What does without a matrix where it is too large: average linkage from rows of similarities.
WITHOUT_MATRIX = ("DyadicAspect", "LWEA", "WEAC", "LCE", "ECPCS", "MDEC")

# (form, test of the battery) -> why the form is exempt from it. Exemptions that follow from an
# estimator's declarations (its Method, its parameters) are added by `exemptions`.
PARTICULAR: dict[tuple[str, str], str] = {
    **{
        (form, "one_partition_is_its_own_consensus"): (
            "with one label an object all mixtures explain the labels alike"
        )
        for form in ("BayesianEnsemble Gibbs", "NonparametricBayesianEnsemble")
    },
    ("BayesianEnsemble Gibbs", "singletons_everywhere_are_accepted"): (
        "labels that occur once leave it open whether two objects share a cluster"
    ),
    **{
        (form, test): reason
        for form in ("FCA", "FCA by size", "FCA auto")
        for test, reason in {
            "reordering_objects_permutes_the_labels": "grows clusters in the order of the objects",
            "planted_clusters_are_found": "independent errors leave no partition to vouch for many objects",
            "unanimous_partitions_survive_30_percent_missing": "who did not observe an object cannot vouch for it",
            "noise_is_evidence_of_separation": "who took an object for noise cannot vouch for it",
        }.items()
    },
    ("Voting one pass", "the_position_of_a_degenerate_partition_does_not_matter"): (
        "goes through the partitions once, in an order drawn by their places"
    ),
    **{
        (form, "a_degenerate_partition_does_not_hide_clear_clusters"): (
            "the most similar clusters of a partition count as alike, be it by one object"
        )
        for form in ("LCE", "LCE wtq")
    },
    # Each objective prefers, or allows, another answer: test_matrix_models.py has the counterexamples.
    **{
        (form, "copies_of_a_soft_partition_give_its_most_probable_clusters"): reason
        for form, reason in {
            "ITK": "of objects of shares 1, 1, .51 and 0 the third loses less information beside the last",
            "FuzzyCommunities": "the 1 on its diagonal asks for more certain memberships than the members'",
            **dict.fromkeys(
                ("WeightedNMF", "NMF"), "other factors have the members' products, too"
            ),
        }.items()
    },
    ("BayesEstimate nid", "noise_is_evidence_of_separation"): (
        "relative to the entropies, objects that are noise more often are better left alone"
    ),
    **{
        (form, "noise_everywhere_equals_singletons_everywhere"): reason
        for forms, reason in {
            (
                "MixtureModel",
                "BayesianEnsemble",
                "BayesianEnsemble Gibbs",
                "NonparametricBayesianEnsemble",
            ): ("the probability of a label that no other object has does not separate clusters"),
            ("MCLA", "MCLA spectral"): "it groups clusters, and noise has none",
            ("Voting", "Voting hard", "Voting one pass"): ("clusters vote, and noise has none"),
            ("FuzzyRows cmeans",): "singletons are coordinates, and noise has none",
            ("WeightedNMF", "NMF", "LeftStochastic"): (
                "noise is with no object, not even itself: the diagonal differs"
            ),
        }.items()
        for form in forms
    },
    ("CSPA", "planted_clusters_are_found"): (
        "its parts may differ from the mean size by 5 %, those that are planted differ by more"
    ),
    **{
        (
            form,
            "threads_change_no_bit",
        ): "n x n: tests/consensus/graph/test_graph.py does it at 1,500 objects"
        for form in ("CSPA", "CSPA wide", "CSPA spectral")
    },
    **{
        (form, "the_dense_limit_error_names_alternatives"): (
            "its graph is of the nearest pairs then: tests/consensus/graph/test_cspa_nearest.py"
        )
        for form in ("CSPA", "CSPA wide", "CSPA spectral")
    },
    **{
        ("HGPA", test): "under label noise all clusters meet all parts: the criterion is flat"
        for test in (
            "reordering_objects_permutes_the_labels",
            "integer_weights_act_as_repetitions",
            "planted_clusters_are_found",
        )
    },
}


def parameters_of(form: str) -> list[str]:
    """Return the names of the parameters of a form's estimator."""
    return list(inspect.signature(getattr(conclust, FORMS[form][0])).parameters)


def exemptions() -> dict[tuple[str, str], str]:
    """Return every exemption with its reason."""
    actual = dict(PARTICULAR)
    for form, (name, _) in FORMS.items():
        method = getattr(conclust, name).method
        exempt: dict[str, tuple[str, ...]] = {}
        if method.n_clusters == "upper bound":
            exempt["n_clusters is an upper bound"] = ("more_clusters_than_objects_are_refused",)
        if method.n_clusters == "emerges":
            exempt["has no n_clusters: the number of clusters emerges"] = (
                "one_cluster_contains_all_objects",
                "more_clusters_than_objects_are_refused",
                "invalid_numbers_of_clusters_are_refused",
                "the_first_parameter_is_the_number_of_clusters",
            )
        if not make(form, None)._takes_missing():
            exempt["takes no missing labels, and says so"] = (
                "unanimous_partitions_survive_30_percent_missing",
                "objects_missing_everywhere_get_minus_one_and_a_warning",
                "unobserved_pairs_leave_all_numbers_finite",
            )
        if not method.weights:
            exempt["takes no weights, and says so"] = (
                "integer_weights_act_as_repetitions",
                "learned_weights_exclude_poor_partitions",
            )
        if "n_jobs" not in parameters_of(form):
            exempt["has no n_jobs: runs on one thread"] = ("threads_change_no_bit",)
        for reason, tests in exempt.items():
            actual |= {(form, test): reason for test in tests}
        if (form, "planted_clusters_are_found") in actual:
            reason = actual[form, "planted_clusters_are_found"]
            actual[form, "learned_weights_exclude_poor_partitions"] = reason
    return actual


def public_estimators() -> dict[str, type[ConsensusClusterer]]:
    """Return the consensus estimators among conclust's public names."""
    actual = {}
    for name in conclust.__all__:
        value = getattr(conclust, name)
        if isinstance(value, type) and issubclass(value, ConsensusClusterer):
            actual[name] = value
    return actual


def make(form: str, n_clusters: int | None) -> ConsensusClusterer:
    """Return a new estimator of a form; `n_clusters` None: of its default number of clusters."""
    name, parameters = FORMS[form]
    estimator: type[ConsensusClusterer] = getattr(conclust, name)
    if n_clusters is None or "n_clusters" not in parameters_of(form):
        return estimator(**parameters)
    return estimator(n_clusters, **parameters)
