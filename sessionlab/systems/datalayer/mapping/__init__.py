"""Any session of a corpus in; its record as `datalayer-session/1` tells one, or a team's records, out.

A session of the format itself is taken from its file again, exactly as it stands there. Every other is told anew out
of the common tables, by `entries.kind`; what is particular to a format is data in `dialects`.

========================  ==================================================================================
`entries.kind`            entries of the record, and their payload
========================  ==================================================================================
(the session)             `session` {app, state, agent, harness, title, archived, lineage}, first; of a fork behind
                          what it took over, with `cloned` {from, at_turn}; other links `step` session
(a run begins)            `run` {}, before the first of its work
message, extend           of a person: `asked` of the run's turn; the first of a helper too. More of it while the
                          model works: `step` turn "steered"; after an answer: the next turn. Of anybody else: `step`
                          turn, `what` the voice. Of the model: `step` turn "said" {text, stop_reason}, "thinking";
                          what stands behind its last call becomes `answered`
model_call                the same, where requests and replies are recorded; purpose compaction: `step` session
                          "compaction" {text}
(a run ends)              `decision` {behaviour, because: "shield_limit:<name>", classes, limit, threshold, count} where
                          a limit cut it short; `turn` {asked, answered, suggest_tests}; `output` {status, ended_at,
                          error, length}: completed `answered`, else `stopped`, failed with `error`
tool_call, tool_result    `tool_call` {tool, tool_call_id, arguments, result, error, status, exit_code, path, command,
                          url, by} where its result stands, else where it was made; no result, no `status`
refused call              before its `tool_call`: by a person `approval` {tool, outcome: "declined", asked_under, note,
                          tool_call_id}; else `decision` {tool, behaviour: "refused", because, classes, refused,
                          tool_call_id}, because `permission` or `hook`
command that ran          `terminal` {command, cwd, exit_code, status, output, error_output, by}: its tool's call is a
                          `tool_call` of its own
command a person typed    `asked` of the run it begins, else `step` turn "command" {name, by, text}
model_error               `step` turn "model_error" {status, error, name, purpose, text or detail}
rewrite, compaction       `step` session {trigger, before_tokens, after_tokens, before, kept, text}: what it newly says
config                    `step` policy "config" {mode, provider, model, effort, ...}: what changed; null: no longer set
taint                     `step` policy "taint" {private, untrusted}
goal                      `step` plan "goal" {name, status}; a plan's checks `step` plan "checks" {steps, status}
title                     `titled` {title, archived}
hook                      `check` {stage, action, gate, passed, tool_call_id, exit_status}; running: `step` session
check, decision,          of the same name
approval, feedback
agent besides the root    `step` {id, name, kind: "run", parent_id, input, output, error, started_at, ended_at}, behind
                          the last of its run; its calls and events say `agent`
picture, document, file   `file` {name, type, size, digest, path}: size 0 and digest "" where the bytes are not kept
state, note, other        `step` session, `what` the recorder's word {name, status, reason, text, detail}
(the session is over)     `ended` {state, by: "end"}
========================  ==================================================================================

Per format, recorded kind and what becomes of it where the table above does not say it all:

===========  ======================  ==================================================================================
format       recorded                entries
===========  ======================  ==================================================================================
gg           model_io                what its request holds for the first time, then the reply; harness `gg`, agent the
                                     root's profile; one run per agent, its end and limit from the agent's row
gg           model_error             `step` "model_error"; a question may stand in its request alone
gg           shell, git              `terminal`, `by` tool, program, hook, git
gg           tool_result             `tool_call`
gg           clock, prompt_frame,    left out; a cancel probe that found one: `step` "cancel_probe"
             cancel_probe
gg           system message          left out
mecha        message, extend         `turn`, `step`, `tool_call`, `file`; harness and agent `mecha`
mecha        rewrite                 `step` "rewrite" or "compaction"; replies and results it alone holds are told
mecha        config, taint, title,   as above
             goal_anchor, notes
mecha        outcome                 `output`
mecha        meta, summary           left out: the head, and figures
claude_code  user, assistant         `turn`, `step`, `tool_call`, `file`; harness `claude_code`, agent `claude-code`;
                                     each prompt of a person is a run
claude_code  system/turn_duration    `output`; where none stands, an answer ends its run
claude_code  system/*_boundary       `step` "compaction", "rewrite"
claude_code  system/stop_hook_...,   `check`
             attachment/hook_*
claude_code  attachment/*            `file` where it names one, else `step`
claude_code  progress/*, last-prompt left out: they repeat; progress/hook_progress is a `step`
claude_code  mode, permission-mode   `step` policy
datalayer    every kind              itself
===========  ======================  ==================================================================================

No agent is swapped for another within such a session, so there is no `swapped`; a change of model is a `config`.
The uid is the native id where that has the shape of one, else 32 hexadecimal digits of the SHA-256 of the session id
(of a seat: of session and agent). The state is `ended` where the recorder says done or failed, and `paused` where it
says nothing: a recording at rest, which may go on. `app` is the format's name, version 0.

`at` is when an entry was written down, or began; one that tells no time has that of the entry before it. Where none
does (gg, mecha) all have the time the session was created, else the time its file was last modified, else 1970, and a
note says so. A turn and an output of which nothing but the answer tells the end have the answer's time.

Figures of tokens and cost have no kind, and are counted in a note. A last run that has neither ended nor been answered
is still running: it has no `turn`, and a note says so. Questions, answers and what else is said are cut at 4000
characters, arguments at 500, results, errors and details at 300, comments and summaries at 2000.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sessionlab.systems.datalayer.mapping.exact import exact_record, exact_team
from sessionlab.systems.datalayer.mapping.material import read
from sessionlab.systems.datalayer.mapping.session import whole_session
from sessionlab.systems.datalayer.mapping.team import team

if TYPE_CHECKING:
    from sessionlab.corpus import Corpus
    from sessionlab.systems.datalayer.record import Record, TeamRecord

__all__ = ["record_of", "team_of"]

_EXACT = "datalayer:"


def record_of(corpus: Corpus, session_id: str, *, whole: bool = False, owner: str | None = None) -> Record:
    """The record of a session, whatever recorded it; entries and payloads as the table of this package says.

    Args:
        corpus: loaded with bodies.
        session_id: its id, its native id, or the beginning of either.
        whole: keep every text whole; else they are cut as the runtime cuts them (datalayer.md section 11).
        owner: uid of the person who opened the session, where the recorder names none; else `unknown`.

    Raises:
        UnknownName, AmbiguousName: no session, or several, of that name.
        QueryError: the corpus was loaded without bodies.
        LoadError: the file of a datalayer session is gone, or is no longer what was loaded.
        WrongUse: the id is a datalayer team run's.
    """
    full = corpus.session_id(session_id)
    if full.startswith(_EXACT):
        return exact_record(corpus, full)
    return whole_session(read(corpus, full), whole=whole, owner=owner)


def team_of(corpus: Corpus, session_id: str, *, whole: bool = False, owner: str | None = None) -> TeamRecord:
    """The record of a session of several agents as a team run: a seat per agent with its own entries.

    Arguments and errors are those of `record_of`; a datalayer id is to be a team run's.
    """
    full = corpus.session_id(session_id)
    if full.startswith(_EXACT):
        return exact_team(corpus, full)
    return team(read(corpus, full), whole=whole, owner=owner)
