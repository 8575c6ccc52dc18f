"""Codex rollouts (`~/.codex/sessions/YYYY/MM/DD/rollout-*.jsonl`) in, rows out.

The recorder publishes no specification: what is read here was learned from files of CLI 0.3x to 0.146. "Rule" and a
number mean the list of counting rules (`counting-rules.md`), which says what is right for each shape that tools get
wrong.
"""

from sessionlab.formats.codex.keys import IGNORED, OPEN, USED
from sessionlab.formats.codex.reader import read
from sessionlab.formats.codex.recognition import sniff
from sessionlab.formats.codex.thread import NAME

__all__ = ["IGNORED", "NAME", "OPEN", "USED", "read", "sniff"]
