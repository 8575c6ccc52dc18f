"""The keys of a rollout by what becomes of them: used, opened no further, or knowingly left aside."""

IGNORED = frozenset({"stdout", "formatted_output", "ordinal"})
"""What a command printed, told once more beside `aggregated_output`; the number of a line."""

OPEN = frozenset({
    "action", "arguments", "changes", "collaboration_mode", "content_items", "dynamic_tools", "error", "ghost_commit",
    "git", "goal", "invocation", "item", "parsed_cmd", "rate_limits", "result", "results", "review_output", "state",
    "statuses", "agent_statuses", "text_elements", "tools", "memory_citation", "metadata", "sandbox_policy",
    "file_system_sandbox_policy", "permission_profile", "active_permission_profile", "truncation_policy", "target",
    "internal_chat_message_metadata_passthrough", "thread_settings", "multi_agent_mode", "context_window", "duration",
    "latest_token_usage_record",
})  # fmt: skip
"""Members whose own keys are a tool's, a user's or a setting's: kept as they stand."""

USED = OPEN | frozenset({
    # envelope and oldest files
    "timestamp", "type", "payload", "record_type", "id", "instructions",
    # session_meta, turn_context
    "session_id", "cwd", "originator", "cli_version", "source", "subagent", "thread_spawn", "parent_thread_id", "depth",
    "agent_path", "agent_nickname", "agent_role", "other", "thread_source", "model_provider", "base_instructions",
    "text", "history_mode", "forked_from_id", "memory_mode", "multi_agent_version", "turn_id", "workspace_roots",
    "current_date", "timezone", "approval_policy", "approvals_reviewer", "model", "effort", "summary", "personality",
    "realtime_active", "comp_hash", "user_instructions", "developer_instructions", "final_output_json_schema",
    # items
    "role", "content", "name", "namespace", "call_id", "input", "output", "status", "encrypted_content", "phase",
    "image_url", "detail", "execution", "revised_prompt", "author", "recipient", "success",
    # events
    "info", "total_token_usage", "last_token_usage", "model_context_window", "input_tokens", "cached_input_tokens",
    "cache_write_input_tokens", "output_tokens", "reasoning_output_tokens", "total_tokens", "message", "images",
    "local_images", "audio", "local_audio", "kind", "client_id", "started_at", "completed_at", "duration_ms",
    "time_to_first_token_ms", "last_agent_message", "collaboration_mode_kind", "reason", "command", "process_id",
    "aggregated_output", "stderr", "exit_code", "query", "codex_error_info", "thread_id", "thread_name", "threadId",
    "turnId", "new_thread_id", "new_agent_nickname", "new_agent_role", "sender_thread_id", "prompt",
    "reasoning_effort", "path", "tool", "callId",
    # compacted, world_state
    "response_id", "usage", "compaction_response_id", "replacement_history", "window_id", "window_number",
    "previous_window_id", "first_window_id", "full",
})  # fmt: skip
"""Members that some row holds: by a column, or in `detail` and bodies as they stand."""
