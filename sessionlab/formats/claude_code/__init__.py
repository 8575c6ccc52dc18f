"""Claude Code transcripts (`~/.claude/projects/<folder>/<session>.jsonl` and their subagents' files) in, rows out.

The recorder publishes no specification: what is read here was learned from files of CLI 1.0 to 2.1. "Rule" and a number
mean the list of counting rules (`counting-rules.md`), which says what is right for each shape that tools get wrong.
"""

from sessionlab.formats.claude_code.reader import read
from sessionlab.formats.claude_code.recognition import sniff
from sessionlab.formats.claude_code.records import IGNORED, OPEN, USED
from sessionlab.formats.claude_code.state import NAME

__all__ = ["IGNORED", "NAME", "OPEN", "USED", "read", "sniff"]
