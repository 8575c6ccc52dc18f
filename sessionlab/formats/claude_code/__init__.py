"""Claude Code transcripts (`~/.claude/projects/<folder>/<session>.jsonl` and their subagents' files) in, rows out."""

from sessionlab.formats.claude_code.reader import read
from sessionlab.formats.claude_code.recognition import sniff
from sessionlab.formats.claude_code.records import IGNORED, OPEN, USED
from sessionlab.formats.claude_code.state import NAME

__all__ = ["IGNORED", "NAME", "OPEN", "USED", "read", "sniff"]
