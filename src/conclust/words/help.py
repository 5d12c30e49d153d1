"""The help of the shell: of each command a line and a paragraph, and of each option; a text goes on where a line is indented."""

from __future__ import annotations

_TEXTS = """
about conclust   | Combine many clusterings of the same objects into one, with probabilities.
after conclust   | 'conclust COMMAND --help' lists the options of a command.
--version        | print the versions of conclust and its dependencies, and the environment
methods          | list the consensus methods with their input and output, or describe one of them
about methods    | Print a table of the consensus methods, the recommended ones first, or the cost, source and parameters of one method.
methods NAME     | a method, in upper or lower case
demo             | cluster known real data sets, without any parameters
about demo       | Cluster real data sets with the default, which receives only the points, with five seeds each, and compare the results with the
    known classes. Prints a table and the reasons; writes a page of the answers, a report and the figures (JSON) to a folder.
demo --out       | folder [%(default)s]
demo --force     | use the folder even if it is not empty
--data           | data sets to use [six, or those of them that are available]
cluster          | cluster points many times and combine the clusterings
about cluster    | Cluster the points of a file many times and combine the clusterings into one.
--generator      | kind of clusterings. auto: 17 graph, 17 spectral and 6 density clusterings (kmeans for fewer than 50 objects); {kinds}several
    joined by +: they take turns; mixed: linkages, k-means and spectral clustering, up to 20,000 objects [%(default)s]
--partitions     | number of clusterings [auto: 40; {kinds}several: the smallest of these for each, at most 100; mixed: all of its kinds]
--scale          | scale the columns first. minmax: to [0, 1]; standard: to mean 0 and standard deviation 1; auto: as standard if their
    spreads suggest different units, otherwise none [%(default)s]
--cache          | folder that keeps finished clusterings, so that an interrupted run can be resumed
--borders        | test whether there is a border between every two neighbouring clusters: parts of the points are clustered separately, and
    borders.csv has the p-values (Holm)
--calibrate      | estimate what share of its pairs, together or apart, each object would keep in a fresh sample (column kept of labels.csv): halves
    of the points are clustered ten times
files            | labels.csv, memberships.csv (for methods with probabilities), ensemble.npz, model.npz and result.json
files cluster    | , features.csv, alternatives.csv (the next best numbers of clusters), borders.csv (--borders)
files combine    | , profiles.csv (--latent-classes)
files predict    | labels.csv, memberships.csv (probabilities) and result.json
files select     | labels.csv (for the chosen number), partitions.csv (for each number), criteria.csv, ensemble.npz (the subsamples for the
    chosen number), features.csv, result.json, borders.csv (--borders) and power.csv (--power)
combine          | combine your own clusterings
about combine    | Combine the clusterings of a file into one. Columns are clusterings, rows are objects, cells are labels: integers or names.
    Empty, NA, '.' or -1: the clustering did not observe the object (--na adds further codes). -2: it observed the object and put it apart
    from all others (noise).
--memberships    | instead of labels: membership files written by ADMIXTURE, fastSTRUCTURE, STRUCTURE or CLUMPP (.Q, .meanQ, _f, .indfile), with
    one object per line
--missing        | meaning of -1; use noise for labels from DBSCAN or HDBSCAN [%(default)s]
--weights        | a file with one weight per clustering
--rows           | meaning of a row: an object; a draw from a posterior by MCMC (one clustering per row; an array may have a leading axis of
    chains); or an answer, with an object, a clustering and a label in the three columns that --columns names in this order [%(default)s]
--latent-classes | latent class analysis of a survey (MixtureModel, maximum likelihood); without -k BIC chooses, up to --max-clusters [10]
--method         | consensus method. auto: chooses the number of clusters and the evidence from the clusterings; or any method listed by
    'conclust methods': pcc, eac (a tree), hbgf, voting, ...
--clusters       | number of clusters; for pcc and related methods, which may use fewer, the maximum. auto (points only): 1 to 10, by resampling
    and a p-value
--max-clusters   | maximum number of clusters, for methods that choose the number [the maximum over the clusterings]
--set            | a parameter of the method (see 'conclust methods NAME'); can be repeated
select           | estimate the number of clusters
about select     | Repeatedly cluster subsamples of the points for each number of clusters, and compare with random rotations of the points:
    clouds of the same covariance without clusters. One p-value tests whether there is more than one cluster; the number with the most stable
    clusters is chosen.
--k              | numbers of clusters to try: 2:10 (maxK = 10 in R packages), or 2,3,5 [2:10, limited by the size of a subsample]
--resamples      | subsamples for each number (reps in R packages) [%(default)s]
--sample-fraction | share of the objects in each subsample (pItem in R packages) [%(default)g]
--null           | references without clusters: rotations of the points; M3C's Gaussians; unimodal clouds; none: no p-value [%(default)s]
--references     | maximum number of references; the smallest possible p-value is 1 / (R + 1) [%(default)s]
--alpha          | significance level of the p-value and of the borders [%(default)g]
--power          | estimate the number of objects with which each border would hold (power.csv); includes --borders
report           | write a result as one HTML page
about report     | Write a page about a result of 'conclust cluster', 'combine' or 'select': the clusters, their number and the reason for it,
    the confidence of each cluster and object, the features that distinguish clusters, pictures, citations and settings. The page is a single
    self-contained HTML file.
report --out     | file of the page; .csv or .md: only the reporting checklist; - for standard output [report.html in DIR]
report --force   | replace an existing page
--objects        | maximum number of objects listed, the most uncertain ones [%(default)s]
--no-pictures    | omit pictures
--names          | names of the clusters, in the order of their labels, separated by commas, or a file with one name per line [labels from 0]
predict          | assign new objects to the clusters of an earlier result
about predict    | Assign new objects to the clusters found by 'conclust cluster' (points in FILE) or 'conclust combine' (labels in FILE).
    Columns are matched by name if the file names them. The model is read from model.npz in the result folder, which contains no pickle;
    nothing is computed again.
repeat           | repeat an earlier run, and check that the result is the same
about repeat     | Run the command of a result of 'conclust cluster' again, with its options and its seed, on the points in FILE. Prints 'The
    same, to the bit', or the first difference in the data, the labels of the result, the versions or the new labels; the exit code is then 1.
compare          | measure the similarity of clusterings, or choose which of several to keep
about compare    | Compare two clusterings of the same objects; if one of them is the ground truth, give it first. With --all: list several runs
    with their mean variation of information to the others (in bits), and name the one to keep: the run nearest to the consensus and, for runs
    ordered by resolution, one within the longest plateau. Reads the column 'label', or the only column. Objects are matched by name if
    both files have a column of names with the same header (or --id-column), otherwise by order; objects without a label in either file are
    left out.
--all            | instead of A and B: one file per run, in the order of their parameter; or one table with one run per column
--column         | column of labels in all files; in a single table, columns such as 'leiden_*'
--second-column  | column of B, if it has another name
--json           | print JSON instead of a table
--id-column      | column of object names [a column with a name like 'id' and a different value in every row]
--label-column   | column of known classes: not part of the data, used only to score the result
--columns        | columns to use, by name or number, or as 'leiden_*'
--drop           | columns to leave out
--header         | whether the first line of a CSV file has column names [%(default)s]
--delimiter      | separator of the columns of a text file; blank: one or more [%(default)s]
--encoding       | encoding of the CSV files, such as cp1252, latin-1 or utf-16-le; a byte order mark takes precedence [UTF-8]
--na             | further spellings of an empty cell in CSV files, such as --na=99,refused or --na=-9 [empty cells and {empty}; among numbers
    also {numbers}]
--decimal        | decimal sign in CSV files: point or comma [found for each column]
--categories     | columns of categories: {becomes}; all: every text column
--impute         | fill empty cells with this statistic of their column [empty cells are an error]
--out            | folder for {what}; with a name that ends in {table}, only the labels are written, to that file; with -, to standard
    output [%(default)s]
--force          | replace existing results
--seed           | random seed [%(default)s]
--jobs           | number of threads; -1 for all [all available]
--quiet          | print only errors and the first line of the result
--verbose        | print every step, and the figures behind the result
--debug          | show the traceback of errors
"""
HELP: dict[str, str] = {}
"""The text of each command, by its name; of each option, by its name, and by "command option" where commands differ."""
for _row in _TEXTS.strip().replace("\n    ", " ").splitlines():
    _name, _, _text = _row.partition("|")
    HELP[_name.strip()] = _text.strip()
