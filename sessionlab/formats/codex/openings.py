"""Lines that say whose a thread is and what it works under (`session_meta`, `turn_context`, settings) in, rows out."""

from __future__ import annotations

from sessionlab.formats.codex.counting import give_waiting
from sessionlab.formats.codex.log import Log
from sessionlab.formats.codex.members import Members, Notes, shown
from sessionlab.formats.codex.thread import Opening, Thread

TIERS = {"default": "standard", "auto": None}
"""Service tiers under the names prices know them by; others keep theirs."""


def opening_of(members: Members) -> Opening:
    """What a `session_meta` payload tells of whose the thread is. Its members stay where the entry's detail needs them.

    `source` is the front end's name, or an object when another thread started this one.
    """
    opening = Opening()
    opening.native_id = members.text("id")
    opening.root_id = members.text("session_id")
    opening.native_id = opening.native_id or opening.root_id
    opening.forked_from = members.text("forked_from_id")
    opening.parent_id = members.text("parent_thread_id")
    opening.agent_nickname = members.text("agent_nickname")
    opening.agent_role = members.text("agent_role")
    opening.agent_path = members.text("agent_path")
    source = members.raws.get("source")
    if source is not None and bytes(source)[:1] == b"{":
        outer = members.inner("source")
        spawn = outer.inner("subagent") if outer is not None else None
        if spawn is None:
            opening.subagent = outer.text("subagent") if outer is not None else None
            return opening
        inner = spawn.inner("thread_spawn")
        if inner is not None:
            opening.subagent = "thread_spawn"
            opening.parent_id = inner.text("parent_thread_id") or opening.parent_id
            opening.depth = inner.integer("depth")
            opening.agent_nickname = opening.agent_nickname or inner.text("agent_nickname")
            opening.agent_role = opening.agent_role or inner.text("agent_role")
            opening.agent_path = opening.agent_path or inner.text("agent_path")
        else:
            opening.subagent = spawn.text("other") or "other"
    return opening


def session_meta(log: Log, members: Members, notes: Notes, native_kind: str) -> None:
    """The opening of a thread: the file's own, that of a thread whose history is repeated, or of the next thread."""
    opening = opening_of(members)
    surface = members.text("source")
    thread = log.thread
    is_own = opening.native_id is None or opening.native_id == thread.native_id
    is_fork = thread.opening.forked_from is not None or opening.native_id == thread.opening.parent_id
    if not is_own and thread.entries and (is_fork or thread.replaying):
        thread.replaying = thread.replayed = True
        thread.scope = opening.native_id
        log.enter()
    elif is_own and thread.entries:
        log.enter()
    else:
        known = log.threads.get(opening.native_id)
        log.thread = known if known is not None else Thread(opening, log.source_id)
        log.enter()
        if known is None:
            _origins(log, opening)
    mine = not log.is_copy
    git = members.inner("git")
    version, cwd = members.text("cli_version"), members.text("cwd")
    provider, originator = members.text("model_provider"), members.text("originator")
    if git is not None:
        log.thread.branch = git.text("branch")
    thread = log.thread
    thread.version, thread.workspace = version or thread.version, cwd or thread.workspace
    thread.provider = provider or thread.provider
    if mine:
        thread.first_version = thread.first_version or version
        thread.first_workspace = thread.first_workspace or cwd
        thread.first_provider = thread.first_provider or provider
        thread.surface = thread.surface or surface or originator
        created = log.time(members.text("timestamp"), notes)
        if created is not None:
            thread.created_at = min(thread.created_at, created)
        if git is not None:
            thread.commit = thread.commit or git.text("commit_hash")
            thread.repository = thread.repository or git.text("repository_url")
    base = members.raws.get("base_instructions") or members.raws.get("instructions")
    if base is not None and bytes(base) not in (b"null", b""):
        inner = members.inner("base_instructions")
        text = inner.text("text") if inner is not None else None
        if text is None and inner is None:
            text = shown(members.raw("base_instructions") or members.raw("instructions"), notes)
        thread.system_ix = log.text(text, "base_instructions")
    log.entry(
        "config",
        native_kind,
        run=None,
        detail=log.kept(
            members,
            forked_from=opening.forked_from,
            parent_thread=opening.parent_id,
            subagent=opening.subagent,
            agent_path=opening.agent_path,
            originator=originator,
            git=git.rest() if git is not None else None,
        ),
    )
    log.configure()


def _origins(log: Log, opening: Opening) -> None:
    """Where a session of its own comes from."""
    if log.thread.is_agent:
        return
    if opening.forked_from is not None:
        log.link("forked_from", opening.forked_from)
    if opening.parent_id is not None:
        log.link("spawned_from", opening.parent_id)


def turn_context(log: Log, members: Members, _notes: Notes) -> None:
    """What the turn that begins works under: a `Config` row when it differs; counts that waited get its model."""
    thread = log.thread
    thread.model = members.text("model") or thread.model
    thread.effort = members.text("effort") or thread.effort
    thread.approval = members.text("approval_policy") or thread.approval
    thread.workspace = members.text("cwd") or thread.workspace
    sandbox = members.raws.get("sandbox_policy")
    if sandbox is not None and bytes(sandbox)[:1] == b'"':
        thread.sandbox = members.text("sandbox_policy")
    else:
        policy = members.inner("sandbox_policy")
        if policy is not None:
            thread.sandbox = policy.text("type") or policy.text("mode") or thread.sandbox
    log.entry("config", "turn_context", detail=log.kept(members))
    log.configure()
    if thread.model is not None:
        give_waiting(log, thread)


def settings_applied(log: Log, members: Members, _notes: Notes) -> None:
    """`thread_settings_applied`: the model, effort, tier and folder from here on."""
    thread = log.thread
    inner = members.inner("thread_settings")
    if inner is not None:
        thread.model = inner.text("model") or thread.model
        thread.provider = inner.text("model_provider_id") or thread.provider
        thread.effort = inner.text("reasoning_effort") or thread.effort
        thread.approval = inner.text("approval_policy") or thread.approval
        thread.workspace = inner.text("cwd") or thread.workspace
        tier = inner.text("service_tier")
        thread.tier = TIERS.get(tier, tier) if tier is not None else thread.tier
    log.entry("config", "thread_settings_applied", detail=log.kept(inner if inner is not None else members))
    log.configure()
    if thread.model is not None:
        give_waiting(log, thread)
