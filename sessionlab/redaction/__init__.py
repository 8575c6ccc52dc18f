"""Texts and JSON values go in; the same without what must not be shared comes out, with a count for each rule."""

from sessionlab.redaction.credential_names import held_values, reads_as_secret
from sessionlab.redaction.declared import declared_names, declared_values
from sessionlab.redaction.exact import Redactor
from sessionlab.redaction.marks import MARK, RULES, Finding
from sessionlab.redaction.strict import PRIVATE_RULES, STRICT_RULES, StrictRedactor, leaks

__all__ = [
    "MARK",
    "PRIVATE_RULES",
    "RULES",
    "STRICT_RULES",
    "Finding",
    "Redactor",
    "StrictRedactor",
    "declared_names",
    "declared_values",
    "held_values",
    "leaks",
    "reads_as_secret",
]
