"""Bodies as rows: a message, a system prompt, a tool list or notes in, a `Pool` row and its `Block` rows out.

Indices are given out whether the rows are wanted or not, so that a load without bodies numbers them the same.
"""

from __future__ import annotations

from collections.abc import Sequence

from sessionlab.formats._values import compact, compact_sorted, detail
from sessionlab.formats.mecha.conversation import Pooled, body_bytes
from sessionlab.formats.mecha.lenient import Extra
from sessionlab.formats.mecha.marks import cuts
from sessionlab.formats.mecha.wire import AnyBlock, Image, Message, Text, Thinking, ToolResult, ToolUse
from sessionlab.tables import Block, Pool, Row

_IS_ERROR = {False: '{"is_error":false}', True: '{"is_error":true}'}


class Bodies:
    """Puts the rows of bodies into ``rows`` where they are ``wanted``, and numbers the texts and tool lists."""

    def __init__(self, session_id: str, rows: list[Row], *, wanted: bool) -> None:
        """Rows go into ``rows``; without ``wanted`` indices are given out all the same."""
        self._session_id = session_id
        self._rows = rows
        self._wanted = wanted
        self._texts: dict[int, int] = {}
        self._toolsets: dict[int, int] = {}

    def message(self, line: int, ix: int, message: Message, extras: Sequence[Extra]) -> None:
        """A message: its blocks in order, then what else it held (kind ``extra``).

        The provenance it tells stands in the pool's ``detail``: of results that answer no call, and of messages that a
        rewrite holds anew, no ``tool_calls`` row has it.
        """
        if not self._wanted:
            return
        told = message.tool_provenance
        note = compact({"tool_provenance": told}) if told else None
        self._pool(line, "message", ix, role=message.role, body_bytes=body_bytes(message), note=note)
        self._blocks(line, "message", ix, message.content, 0)
        rest = [*extras] if message.planning is None else [("planning", message.planning), *extras]
        self._extras(line, "message", ix, rest, len(message.content))

    def continued(
        self, line: int, ix: int, *, was: Pooled, was_ix: int, blocks: Sequence[AnyBlock], extras: Sequence[Extra]
    ) -> None:
        """A message whose earlier blocks are no longer held: those added, numbered on, and where the others are."""
        if not self._wanted:
            return
        first = was.blocks
        self._pool(line, "message", ix, role=was.role, note=detail(continues_ix=was_ix, from_block=first))
        self._blocks(line, "message", ix, blocks, first)
        self._extras(line, "message", ix, extras, first + len(blocks))

    def text(self, line: int, *texts: str) -> int:
        """A body of plain texts (a system prompt, notes), once per source; its index in the ``text`` pool."""
        ix, is_new = self._number(self._texts, hash(texts))
        if is_new and self._wanted:
            self._pool(line, "text", ix, body_bytes=sum(len(text.encode()) for text in texts))
            self._blocks(line, "text", ix, [Text(text) for text in texts], 0)
        return ix

    def toolset(self, line: int, names: tuple[str, ...]) -> int:
        """A list of tool names, which is all a transcript holds of tools; its index in the ``toolset`` pool."""
        ix, is_new = self._number(self._toolsets, hash(names))
        if is_new and self._wanted:
            self._pool(line, "toolset", ix, body_bytes=sum(len(name.encode()) for name in names))
            for at, name in enumerate(names):
                self._block(line, "toolset", ix, at, "tool", name=name)
        return ix

    def leftovers(self, line: int, blocks: Sequence[AnyBlock], extras: Sequence[Extra]) -> int:
        """What belongs to no message of the conversation, kept as a text body; its index in the ``text`` pool."""
        ix, is_new = self._number(self._texts, hash(("leftovers", *blocks, compact(extras))))
        if is_new and self._wanted:
            self._pool(line, "text", ix)
            self._blocks(line, "text", ix, blocks, 0)
            self._extras(line, "text", ix, extras, len(blocks))
        return ix

    @staticmethod
    def _number(pool: dict[int, int], key: int) -> tuple[int, bool]:
        """The index of the body of that digest in its pool, and whether it is new there."""
        at = len(pool)
        ix = pool.setdefault(key, at)
        return ix, ix == at and len(pool) > at

    def _extras(self, line: int, pool: str, ix: int, extras: Sequence[Extra], first: int) -> None:
        for at, (name, value) in enumerate(extras, first):
            self._block(line, pool, ix, at, "extra", name=name, text=compact(value))

    def _blocks(self, line: int, pool: str, ix: int, blocks: Sequence[AnyBlock], first: int) -> None:
        for at, block in enumerate(blocks, first):
            if isinstance(block, Text):
                self._block(line, pool, ix, at, "text", text=block.text)
            elif isinstance(block, ToolResult):
                marks = cuts(block.content)
                note: str | None = _IS_ERROR[block.is_error]
                if marks:
                    note = compact({"is_error": block.is_error, "marks": marks})
                self._block(line, pool, ix, at, "result", block.tool_use_id, text=block.content, note=note)
            elif isinstance(block, ToolUse):
                self._block(line, pool, ix, at, "call", block.id, block.name, compact_sorted(block.input))
            elif isinstance(block, Thinking):
                self._block(line, pool, ix, at, "thinking", text=block.text, note=detail(signature=block.signature))
            else:
                note = detail(media_type=block.media_type, image_bytes=_image_bytes(block))
                self._block(line, pool, ix, at, "image", name=block.source, text=block.data, note=note)

    def _pool(
        self,
        line: int,
        pool: str,
        ix: int,
        *,
        role: str | None = None,
        body_bytes: int | None = None,
        note: str | None = None,
    ) -> None:
        self._rows.append(
            Pool(
                session_id=self._session_id,
                line=line,
                pool=pool,
                ix=ix,
                role=role,
                body_bytes=body_bytes,
                detail=note,
            )
        )

    def _block(
        self,
        line: int,
        pool: str,
        ix: int,
        block: int,
        kind: str,
        call_id: str | None = None,
        name: str | None = None,
        text: str | None = None,
        note: str | None = None,
    ) -> None:
        self._rows.append(
            Block(
                session_id=self._session_id,
                line=line,
                pool=pool,
                ix=ix,
                block=block,
                kind=kind,
                call_id=call_id,
                name=name,
                text=text,
                detail=note,
            )
        )


def _image_bytes(image: Image) -> int:
    """Size of the picture behind its base64."""
    return len(image.data) * 3 // 4 - (len(image.data) - len(image.data.rstrip("=")))
