"""Texts and JSON values go in; the same without what must not be shared comes out, with a count for each rule."""

from sessionlab.redaction.credential_names import held_values, reads_as_secret
from sessionlab.redaction.declared import declared_names, declared_values
from sessionlab.redaction.exact import Redactor
from sessionlab.redaction.marks import MARK, RULES, Finding

__all__ = [
    "MARK",
    "RULES",
    "Finding",
    "Redactor",
    "declared_names",
    "declared_values",
    "held_values",
    "reads_as_secret",
]
