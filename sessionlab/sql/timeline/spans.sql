-- What happened in a session, as bars and ticks on a timeline.
-- One row per thing that has a beginning and an end: agent, run, model call, tool call, command, message, error,
-- compaction, rewrite, probe that found a cancel, limit reached. Ordered by session, lane, beginning.
--
-- session_id       VARCHAR    session
-- agent_id         VARCHAR    agent
-- lane             BIGINT     lane of the agent, 0-based from the top, as in `timeline.lanes`
-- span_id          VARCHAR    names the span; the key to `timeline.details`
-- kind             VARCHAR    agent, run, message, model_call, model_error, tool_call, shell, git, compaction, rewrite,
--                             probe, limit, other
-- name             VARCHAR    model, tool, command line, who speaks, or label of the agent
-- parent_agent_id  VARCHAR    kind agent: agent that made it
-- depth            BIGINT     kind agent: steps down from the root
-- origin           VARCHAR    kind agent: root, spawn, succession, issue_attempt, reviewer, merge, compaction
-- status           VARCHAR    ok, failed, refused, asked, interrupted, unanswered, staged; of agents
--                             running, blocked, done, failed; null unknown
-- reason           VARCHAR    the recorded word for why
-- is_forced        BOOLEAN    the model had to call the one tool offered; null when not told
-- caller           VARCHAR    who asked for the call or command: tool, program, hook, model, harness
-- place            VARCHAR    working folder of a command: `.` is the workspace
-- run              BIGINT     run it belongs to, 1-based
-- turn             BIGINT     turn it belongs to, 1-based
-- begin_order      BIGINT     place of its first entry on the order axis; null for a lane without entries
-- end_order        BIGINT     place of its last entry
-- begin_ms         DOUBLE     ms since the session began: by the agent's clock, else by the stamps; null when untold
-- end_ms           DOUBLE     the same for its end
-- begin_at         TIMESTAMP  when it began, UTC; null when untold
-- end_at           TIMESTAMP  when it ended
-- context_tokens   BIGINT     all input of the request
-- window_tokens    BIGINT     context window of the model
-- output_tokens    BIGINT     output of the call
-- excerpt          VARCHAR    first 200 characters of what was said, asked or answered; of a tail behind `… `
-- note             VARCHAR    why a lane is empty, or a remark
WITH reach AS (
  SELECT
    session_id, agent_id, min(begin_ms) AS begin_ms, max(coalesce(end_ms, begin_ms)) AS end_ms,
    min(recorded_at) AS begin_at, max(recorded_at) AS end_at
  FROM timeline._order
  GROUP BY session_id, agent_id
),
entry_spans AS (
  SELECT
    m.session_id, m.agent_id, m.span_id, min(m.span_kind) AS kind,
    CASE min(m.span_kind)
      WHEN 'model_call' THEN min(c.model)
      WHEN 'model_error' THEN min(c.model)
      WHEN 'compaction' THEN coalesce(min(c.model), 'compaction')
      WHEN 'message'
        THEN coalesce(min_by(m.name, m.place), min_by(m.voice, m.place), min_by(m.role, m.place), 'message')
      ELSE coalesce(min_by(m.name, m.place), min_by(m.native_kind, m.place), min_by(m.kind, m.place))
    END AS name,
    CAST(NULL AS VARCHAR) AS parent_agent_id, CAST(NULL AS BIGINT) AS depth, CAST(NULL AS VARCHAR) AS origin,
    max_by(m.status, m.place) FILTER (WHERE m.status IS NOT NULL) AS status,
    max_by(m.reason, m.place) FILTER (WHERE m.reason IS NOT NULL) AS reason,
    min_by((m.detail->>'$.shape'), m.place) = 'complete_requiring' AS is_forced,
    CASE min(m.span_kind)
      WHEN 'git' THEN 'harness'
      WHEN 'shell' THEN coalesce(min_by((m.detail->>'$.origin'), m.place), min_by(m.voice, m.place))
    END AS caller,
    min_by((m.detail->>'$.cwd'), m.place) AS place, min(m.run) AS run, min(m.turn) AS turn,
    min(m.place) AS begin_order, max(m.place) AS end_order, min(m.begin_ms) AS begin_ms, max(m.end_ms) AS end_ms,
    min(m.begin_at) AS begin_at, max(m.end_at) AS end_at, max(c.context_tokens) AS context_tokens,
    max(c.window_tokens) AS window_tokens, max(c.output_tokens) AS output_tokens, min(x.excerpt) AS excerpt,
    CASE
      WHEN bool_and(m.is_taken_over) THEN 'taken over from an earlier session'
      WHEN min(m.kind) = 'tool_result' THEN 'a result without its call'
      WHEN min(m.span_kind) = 'probe' THEN 'canceled: this ends the session'
      WHEN max(p.original_bytes) IS NOT NULL AND max(r.original_bytes) IS NOT NULL
        THEN concat(
          'output: tail of ', max(p.original_bytes), ' bytes; stderr: tail of ', max(r.original_bytes), ' bytes'
        )
      WHEN max(p.original_bytes) IS NOT NULL THEN concat('output: tail of ', max(p.original_bytes), ' bytes')
      WHEN max(r.original_bytes) IS NOT NULL THEN concat('stderr: tail of ', max(r.original_bytes), ' bytes')
    END AS note
  FROM timeline._marks m
  LEFT JOIN timeline._models c ON c.session_id = m.session_id AND c.span_id = m.span_id
  LEFT JOIN timeline._said x ON x.session_id = m.session_id AND x.span_id = m.span_id
  LEFT JOIN pools p
    ON p.session_id = m.session_id AND p.source_id = m.source_id AND p.pool = 'text' AND p.ix = m.output_ix
    AND m.span_kind IN ('shell', 'git')
  LEFT JOIN pools r
    ON r.session_id = m.session_id AND r.source_id = m.source_id AND r.pool = 'text'
    AND r.ix = TRY_CAST((m.detail->>'$.stderr_ix') AS BIGINT) AND m.span_kind IN ('shell', 'git')
  WHERE m.span_kind IS NOT NULL
  GROUP BY m.session_id, m.agent_id, m.span_id
),
tool_spans AS (
  SELECT
    t.session_id, t.agent_id, concat(t.source_id, '/', t.seq, '/', t.ordinal) AS span_id, 'tool_call' AS kind, t.name,
    NULL, NULL, NULL, t.status, coalesce(t.reason, t.refused_by) AS reason, NULL, t.caller, NULL, t.run, t.turn,
    m.place AS begin_order, greatest(m.place, coalesce(n.place, m.place)) AS end_order,
    coalesce(m.end_ms, m.begin_ms) AS begin_ms, NULL, t.called_at AS begin_at, t.returned_at AS end_at,
    NULL, NULL, NULL, left(t.arguments, 200) AS excerpt,
    CASE
      WHEN m.is_taken_over THEN 'taken over from an earlier session'
      WHEN p.original_bytes IS NOT NULL THEN concat('output: tail of ', p.original_bytes, ' bytes')
    END AS note
  FROM raw.tool_calls t
  JOIN timeline._order m ON m.session_id = t.session_id AND m.source_id = t.source_id AND m.seq = t.seq
  LEFT JOIN timeline._order n ON n.session_id = t.session_id AND n.source_id = t.source_id AND n.seq = t.result_seq
  LEFT JOIN pools p
    ON p.session_id = t.session_id AND p.source_id = t.source_id AND p.pool = t.output_pool AND p.ix = t.output_ix
),
run_spans AS (
  SELECT
    session_id, agent_id, concat('run/', agent_id, '/', run) AS span_id, 'run' AS kind, concat('run ', run) AS name,
    NULL, NULL, NULL, status, stop_cause AS reason, NULL, NULL, NULL, run, NULL, begin_order, end_order, begin_ms,
    end_ms, begin_at, end_at, NULL, NULL, NULL, NULL,
    CASE WHEN duration_ms IS NOT NULL
      THEN concat('took ', round(duration_ms / 1000.0, 1), ' s, as recorded')
    END AS note
  FROM timeline._runs
),
agent_spans AS (
  SELECT
    l.session_id, l.agent_id, concat(k.kind, '/', l.agent_id) AS span_id, k.kind,
    CASE WHEN k.is_agent THEN l.label ELSE l.limit_hit END AS name,
    CASE WHEN k.is_agent THEN l.parent_agent_id END AS parent_agent_id, CASE WHEN k.is_agent THEN l.depth END AS depth,
    CASE WHEN k.is_agent THEN l.origin END AS origin, CASE WHEN k.is_agent THEN l.status END AS status,
    l.limit_hit AS reason, NULL, NULL, NULL, NULL, NULL,
    CASE WHEN k.is_agent THEN l.first_order ELSE l.last_order END AS begin_order, l.last_order AS end_order,
    CASE WHEN k.is_agent THEN r.begin_ms ELSE r.end_ms END AS begin_ms,
    CASE WHEN k.is_agent THEN r.end_ms END AS end_ms,
    CASE WHEN k.is_agent THEN r.begin_at ELSE r.end_at END AS begin_at,
    CASE WHEN k.is_agent THEN r.end_at END AS end_at,
    NULL, NULL, NULL, NULL, CASE WHEN k.is_agent THEN l.note ELSE l.limit_note END AS note
  FROM timeline.lanes l
  LEFT JOIN reach r ON r.session_id = l.session_id AND r.agent_id = l.agent_id
  CROSS JOIN (SELECT 'agent' AS kind, true AS is_agent UNION ALL SELECT 'limit', false) k
  WHERE k.is_agent OR l.limit_hit IS NOT NULL
),
together AS (
  SELECT * FROM entry_spans
  UNION ALL
  SELECT * FROM tool_spans
  UNION ALL
  SELECT * FROM run_spans
  UNION ALL
  SELECT * FROM agent_spans
),
dated AS (
  SELECT t.*, coalesce(s.created_at, min(t.begin_at) OVER (PARTITION BY t.session_id)) AS session_at
  FROM together t
  LEFT JOIN sessions s ON s.session_id = t.session_id
)
SELECT
  t.session_id,
  t.agent_id,
  l.lane,
  t.span_id,
  t.kind,
  t.name,
  t.parent_agent_id,
  t.depth,
  t.origin,
  t.status,
  t.reason,
  t.is_forced,
  t.caller,
  t.place,
  t.run,
  t.turn,
  t.begin_order,
  t.end_order,
  coalesce(t.begin_ms, date_diff('microsecond', t.session_at, t.begin_at) / 1000.0) AS begin_ms,
  CASE WHEN coalesce(t.end_ms, date_diff('microsecond', t.session_at, t.end_at) / 1000.0) IS NOT NULL THEN
    greatest( -- a clock that was set back ends nothing before it began
      coalesce(t.end_ms, date_diff('microsecond', t.session_at, t.end_at) / 1000.0),
      coalesce(t.begin_ms, date_diff('microsecond', t.session_at, t.begin_at) / 1000.0)
    )
  END AS end_ms,
  t.begin_at,
  CASE WHEN t.end_at IS NOT NULL THEN greatest(t.begin_at, t.end_at) END AS end_at,
  t.context_tokens,
  t.window_tokens,
  t.output_tokens,
  t.excerpt,
  t.note
FROM dated t
LEFT JOIN timeline.lanes l ON l.session_id = t.session_id AND l.agent_id = t.agent_id
ORDER BY
  t.session_id, l.lane, t.begin_order NULLS FIRST,
  CASE t.kind WHEN 'agent' THEN 0 WHEN 'run' THEN 1 WHEN 'tool_call' THEN 3 WHEN 'limit' THEN 4 ELSE 2 END,
  length(t.span_id), t.span_id
