"""Which files are Claude Code transcripts: told from their first bytes, whatever stands first."""

from __future__ import annotations

import pytest

from sessionlab.formats import claude_code
from tests.formats.claude_code_lines import joined, line, prompt

NOT_MINE = {
    "workflow journal": b'{"type": "started", "key": "v2:a", "agentId": "a1"}\n{"type": "result", "key": "v2:a"}\n',
    "codex": b'{"timestamp":"t","type":"session_meta","payload":{"id":"x","sessionId":"y"}}\n',
    "pi": b'{"type":"message","id":"1","parentId":null,"message":{"role":"assistant","usage":{"input":1}}}\n',
    "copilot": b'{"type":"assistant.message","data":{"outputTokens":40},"id":"1","parentId":null}\n',
    "mecha": b'{"record":"meta","id":"x"}\n',
    "atif": b'{\n  "schema_version": "ATIF-v1.5",\n  "session_id": "x",\n  "steps": []\n}\n',
    "gemini": b'{\n  "sessionId": "x",\n  "messages": [{"type": "user", "content": "hi"}]\n}\n',
    "console log": b"[16:29:14.606] Starting\n" * 20 + joined(prompt("a", uuid="u")),
    "empty": b"",
    "text": b"hello\n",
}


@pytest.mark.parametrize("name", NOT_MINE)
def test_files_of_others_are_not_claimed(name: str) -> None:
    """Rule 10 and the rest: journals, other agents' files, logs and single documents are somebody else's."""
    assert not claude_code.sniff(NOT_MINE[name])


MINE = {
    "envelope": joined(prompt("a", uuid="u", parentUuid=None)),
    "summary first": b'{"type":"summary","summary":"s","leafUuid":"u"}\n',
    "snapshot first": b'{"type":"file-history-snapshot","messageId":"u","snapshot":{}}\n',
    "queue first": joined(line("queue-operation", operation="enqueue")),
    "torn first": b'{"type":"user","mess\n' + joined(prompt("a", uuid="u")),
    "comment first": b"// a note\n" + joined(prompt("a", uuid="u")),
    "first line longer than the head": joined(prompt("x" * 90_000, uuid="u", cwd="/a"))[:65_536],
    "snapshot longer than the head": b'{"type":"file-history-snapshot","messageId":"u","snapshot":"' + b"x" * 70_000,
    "without type": b'{"sessionId":"s","message":{"role":"assistant","usage":{"input_tokens":1}}}\n',
    "without ids": b'{"type":"assistant","message":{"usage":{"input_tokens":1}}}\n',
}  # fmt: skip


@pytest.mark.parametrize("name", MINE)
def test_transcripts_are_claimed_whatever_comes_first(name: str) -> None:
    """Bookkeeping, damage or a line longer than the head do not hide what the file is."""
    assert claude_code.sniff(MINE[name])
