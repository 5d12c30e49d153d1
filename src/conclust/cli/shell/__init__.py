"""Support for shells: completion, the manual page, examples, versions."""
