-- What each entry is on the timeline.
-- One row per entry drawn, as in `timeline._order`, with the span it belongs to.
--
-- session_id     VARCHAR    session
-- source_id      BIGINT     file the entry stands in
-- seq            BIGINT     position in that file
-- agent_id       VARCHAR    agent it belongs to
-- place          BIGINT     position on the order axis
-- span_kind      VARCHAR    kind of its span; null where it has none of its own (readings, frames, figures, results)
-- span_id        VARCHAR    the span: named by its first entry; the lines of one reply share theirs
-- kind           VARCHAR    kind of the entry
-- native_kind    VARCHAR    the recorder's word for it
-- run            BIGINT     run it belongs to
-- turn           BIGINT     turn it belongs to
-- begin_at       TIMESTAMP  when it began: as told; of a reply, the latest time before it
-- end_at         TIMESTAMP  when it ended: as told; of a reply, when it was recorded
-- recorded_at    TIMESTAMP  when it was written down
-- begin_ms       DOUBLE     clock of its agent when it began
-- end_ms         DOUBLE     clock when it ended
-- voice          VARCHAR    who speaks
-- role           VARCHAR    role of the message
-- name           VARCHAR    tool, command line or check
-- purpose        VARCHAR    what a model call was for
-- charge_id      VARCHAR    model call it is part of
-- message_ix     BIGINT     message it holds
-- output_ix      BIGINT     output it holds
-- status         VARCHAR    as recorded
-- reason         VARCHAR    as recorded
-- exit_code      BIGINT     of a command
-- detail         VARCHAR    the rest, JSON
-- is_taken_over  BOOLEAN    as in `timeline._order`
WITH answered AS (
  SELECT session_id, source_id, seq FROM raw.tool_calls
  UNION
  SELECT session_id, source_id, result_seq AS seq FROM raw.tool_calls WHERE result_seq IS NOT NULL
),
named AS (
  SELECT DISTINCT session_id, source_id, call_id FROM raw.tool_calls WHERE call_id IS NOT NULL
),
kinds AS (
  SELECT
    o.session_id, o.source_id, o.seq, o.agent_id, o.place,
    CASE
      WHEN e.kind = 'model_call'
        OR (e.kind = 'message' AND e.role = 'assistant' AND coalesce(e.voice, 'model') = 'model')
        THEN CASE WHEN e.purpose = 'compaction' THEN 'compaction' ELSE 'model_call' END
      WHEN e.kind = 'message' AND (e.voice IS DISTINCT FROM 'tool' OR (e.detail->>'$.steered') IS NOT NULL)
        THEN 'message'
      WHEN e.kind = 'command' THEN CASE WHEN e.native_kind = 'git' THEN 'git' ELSE 'shell' END
      WHEN e.kind IN ('model_error', 'compaction', 'rewrite') THEN e.kind
      WHEN e.kind = 'extend' THEN 'rewrite'
      WHEN e.kind = 'probe' AND (e.status = 'interrupted' OR (e.detail->>'$.canceled') = 'true') THEN 'probe'
      WHEN e.kind IN ('decision', 'approval', 'check', 'feedback', 'hook', 'step') THEN 'other'
      WHEN e.kind IN ('state', 'note', 'other') AND (e.recorded_at IS NOT NULL OR e.status IS NOT NULL) THEN 'other'
      WHEN e.kind = 'tool_result' AND a.seq IS NULL AND n.call_id IS NULL THEN 'other'
    END AS span_kind,
    e.kind, e.native_kind, e.run, e.turn,
    CASE
      WHEN e.started_at IS NOT NULL THEN e.started_at
      WHEN e.role = 'assistant' OR e.kind IN ('model_call', 'model_error')
        THEN least(coalesce(o.prior_at, o.recorded_at), o.recorded_at)
      ELSE o.recorded_at
    END AS begin_at,
    CASE
      WHEN e.started_at IS NOT NULL THEN TRY_CAST((e.detail->>'$.ended_at') AS TIMESTAMP)
      WHEN e.role = 'assistant' OR e.kind IN ('model_call', 'model_error') THEN o.recorded_at
    END AS end_at,
    o.recorded_at, o.begin_ms, o.end_ms, e.voice, e.role, e.name, e.purpose, e.charge_id, e.message_ix,
    e.output_ix, e.status, e.reason, e.exit_code, e.detail, o.is_taken_over
  FROM timeline._order o
  JOIN raw.entries e ON e.session_id = o.session_id AND e.source_id = o.source_id AND e.seq = o.seq
  LEFT JOIN answered a ON a.session_id = o.session_id AND a.source_id = o.source_id AND a.seq = o.seq
  LEFT JOIN named n ON n.session_id = o.session_id AND n.source_id = o.source_id AND n.call_id = e.call_id
)
SELECT
  session_id, source_id, seq, agent_id, place, span_kind,
  first_value(concat(source_id, '/', seq)) OVER (
    PARTITION BY
      session_id, agent_id,
      CASE
        WHEN span_kind IN ('model_call', 'compaction') AND charge_id IS NOT NULL
          THEN concat(span_kind, '/', charge_id, '/', coalesce(turn, 0))
        ELSE concat(source_id, '/', seq)
      END
    ORDER BY place
  ) AS span_id,
  kind, native_kind, run, turn, begin_at, end_at, recorded_at, begin_ms, end_ms, voice, role, name,
  purpose, charge_id, message_ix, output_ix, status, reason, exit_code, detail, is_taken_over
FROM kinds
