"""Titles of the sections and tables; columns of the tables, a row each: name, title, digits or kind of the cells, and how these were computed.

A row goes on where a line is indented. Facts in braces are filled in by the table.
"""

TITLES = {
    "overview": "The groups at a glance",
    "one": "What you can do",
    "clusters": "The clusters in numbers",
    "borders": "Which borders hold",
    "features": "How the clusters differ",
    "objects": "Which objects are uncertain",
    "why": "Why this number of clusters",
    "why one": "Why one cluster",
    "evidence": "What the clusterings show",
    "partitions": "How good the clusterings are",
    "run": "What was run",
    "cite": "How to cite",
    "checklist": "Reporting checklist",
    "repeat": "How to repeat it",
}
CAPTIONS = {
    "borders": "Borders between neighbouring clusters, the least certain first",
    "objects": "The most uncertain objects",
    "search": "Find an object",
    "doubts": "Arguments against it",
    "deciding": "Criteria that decide, for each number of clusters",
    "others": "Other criteria",
    "reported": "Criteria that are reported only",
    "supports": "Support of each number of clusters",
    "partitions": "Clusterings, least similar to the consensus first",
    "steps": "How long it took",
    "call": "To repeat it",
}

CLUSTERS = """
cluster    | Cluster    | cluster | {named}
size       | Objects    |   | Number of objects.
share      | Share      | 3 | Share of the objects that are in a cluster.
confidence | Confidence | 3 | Mean membership of its objects in this cluster; 1 is certain.
consensus  | Consensus  | 3 | Cluster consensus (Monti et al. 2003): mean over the pairs of its objects of the share of clusterings that put
    both together, among those that observed both.
jaccard    | Recovery   | 3 | Mean over the clusterings of the largest Jaccard coefficient with one of their clusters (Hennig 2007). For
    resamples with the same number of clusters: below 0.6 unreliable, from 0.85 very stable. Finer clusterings always lower it.
next       | Next       | cluster | The other cluster into which an object drawn from this one falls most often if its cluster is drawn
    again.
overlap    | Overlap    | 3 | The probability m_ab of falling into this next cluster.
"""
GROUPS = """
cluster    | Cluster    | cluster | {named}
features   | What distinguishes it | text | The features and categories in which it differs most from the other objects: its mean or share,
    with the value for the other objects in parentheses.
size       | Objects    |   | Number of objects.
share      | Share      | share | Share of the objects that are in a cluster.
confidence | Confidence | 2 | Mean confidence of its objects; 1 is certain.
kept       | Pairs kept | share | Mean share of the pairs of its objects, together or apart, that a fresh sample keeps; 50 % is expected by chance.
separation | Separation | text | A gap is tested on the points of two clusters, projected onto the line between their centres (held-out
    halves, Hartigan's dip, mean p at most 0.05). Only half of the objects of two clusters are tested, so a gap may be missed with few objects, and a bent
    one is not found. An overlap is the probability that an object drawn from the cluster falls into the other one if its cluster is drawn
    again; overlaps below {rare:.0%} are not mentioned.
"""
OBJECTS = """
object     | Object     | name | Its name in the input, or its row, from 0.
cluster    | Cluster    | cluster | The cluster that it is in.
second     | Next       | cluster | The next most probable cluster.
confidence | Confidence | 3 | Its membership in its own cluster; 1 is certain. For methods without memberships: the share of its own cluster
    among the objects that clusterings put together with it.
kept       | Pairs kept | share | Share of its pairs, together or apart, that a fresh sample keeps; 50 % is expected by chance.
margin     | Margin     | 3 | Confidence minus the membership in the next cluster.
item_consensus | Together | 3 | Item consensus (Monti et al. 2003): how often clusterings put it together with another object of its
    cluster, averaged over these objects.
silhouette | Silhouette | 3 | From -1 to 1, with distances 1 - co-association: below 0, it is more often together with objects of another
    cluster.
agreement  | Agreement  | 3 | Share of the clusterings that agree. A clustering agrees if most objects of its cluster there are also in its
    cluster here.
seen       | Seen       |   | Number of clusterings that observed it.
"""
PARTITIONS = """
clustering | Clustering |   | Its column in the ensemble, from 0.
source     | Made of    | name | Its source: the features, or one column of categories.
clusters   | Clusters   |   | Number of its clusters.
seen       | Seen       |   | Number of objects that it observed.
ari        | ARI        | 3 | Adjusted Rand index with the consensus.
nmi        | NMI        | 3 | Normalized mutual information with the consensus.
diversity  | Diversity  | 3 | 1 minus its mean normalized mutual information with the others.
weight     | Weight     | 3 | Its share of the total weight.
"""
BORDERS = """
first      | Cluster    | cluster | One of two neighbouring clusters.
second     | and        | cluster | The other one.
holds      | Holds      | text | Whether the adjusted p is at most {alpha:g}.
adjusted   | Adjusted p | 4 | Adjusted for the number of borders (Holm 1979).
p_value    | p          | 4 | By the dip test, for this border alone.
valley_p_value | Valley p | 4 | By the valley test: fewer points in a window between two peaks than in either. Exact, but less powerful.
first_peak | Peak       | 1 | Mean number of points at the first cluster's peak.
valley     | Valley     | 1 | In the valley between the two.
second_peak | Peak      | 1 | At the second cluster's peak.
"""
# Of a selection: the criteria that decide, and the one that is only reported.
DECIDING = """
k        | K        |   | The number of clusters that was tried.
pac      | PAC      | 3 | Share of ambiguous pairs: neither nearly always together nor nearly always apart (Șenbabaoğlu et al. 2014). It
    also falls with K without clusters: compare it with the references.
rcsi     | RCSI     | 3 | Relative cluster stability (John et al. 2020): mean log PAC of the references minus log PAC of the points. The K
    with the largest value is chosen, unless almost no pair is ambiguous at several K; then the largest of these.
sharp    | Sharp    | 1 | Sharp score (Bodinier et al. 2023): the difference between the rates of being together within and between
    clusters, in units of chance. It is the second vote, and decides if there are no references.
mean_ari | Mean ARI | 3 | Mean adjusted Rand index of two resamples on the objects that both drew.
smallest_cluster | Smallest | 0 | Number of objects in the smallest cluster.
"""
REPORTED = """
k        | K          |   | The number of clusters that was tried.
delta    | Delta area | 3 | Relative growth of the area under the distribution function.
"""
SUPPORTS = """
k          | K         |   | Number of clusters.
support    | Support   | 3 | Lifetime minus straddling.
lifetime   | Lifetime  | 3 | Range of heights, from 0 to 1, over which the tree has K clusters.
straddling | Straddled | 3 | Extent to which fine clusterings cut across the borders; 1 is expected by chance.
"""
STEPS = """
step    | Step    | text | What was done.
seconds | Seconds | 2 | Wall-clock time on the machine that ran it.
"""
CHECKLIST = """
part  | Part  | text | The stage.
item  | Item  | text | What to report.
state | State | text | Whether this result provides it.
what  | What  | text | What it provides.
"""
NO_SCRIPT = "The tables and pictures of this page need its script, which this browser does not run."
OBJECTS_OF = "Objects of the clusters: {}."
NO_PICTURES = "There are no pictures. {}"
NO_PICTURE = "This picture could not be drawn: {}: {}"
SPREAD = " After ±: its standard error."
NEAR = "near the mean elsewhere in all features"
FEATURE = "Name of the feature, or of a column and a category."
HEAT = (
    "Mean of the feature in the cluster, or share of the category. Colour: its difference from the other objects in "
    "standard deviations; blue is higher, orange is lower, full colour is 2 or more."
)


def rows_of(text: str) -> list[list[str]]:
    """Return the cells of the rows of a text."""
    rows = text.strip().replace("\n    ", " ").splitlines()
    return [[cell.strip() for cell in row.split("|")] for row in rows]
