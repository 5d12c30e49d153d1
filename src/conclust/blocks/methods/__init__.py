"""Methods on labels in blocks, a file each: ``fit(model, labels, seed)`` sets a model's attributes and returns its `Answer`.

No module imports them: a `Method` names its own in ``blocks``, which the base of the estimators loads.
"""
