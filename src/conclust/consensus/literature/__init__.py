"""Methods that benchmark papers name: a file each, in the form of their papers. The core does not import this folder."""

from conclust._lazy import attach

__all__, __getattr__, __dir__ = attach(__name__)
