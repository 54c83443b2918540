"""Bundles to mount plans. Public API as `amplifier_foundation`."""

from amplifier_tui.base.python import lazy_names

__getattr__, __dir__, __all__ = lazy_names(
    __name__,
    {
        "bundle.bundle": "Bundle",
        "bundle.composing": "tag_container_provenance",
        "bundle.prepared": "PreparedBundle",
        "modules.resolver": "BundleModuleResolver BundleModuleSource",
        "bundle.session": """
            WORKING_DIR_CAPABILITY get_working_dir inject_additional_events set_working_dir
        """,
        "cache": "DiskCache SimpleCache",
        "checks.validator": """
            BundleValidator ValidationResult validate_bundle validate_bundle_or_raise
        """,
        "configurator": """
            RUNTIME_CONTEXT_OVERLAY_CAPABILITY RUNTIME_SKILL_OVERLAY_CAPABILITY RuntimeOverlay
            SessionConfigurator TransitionResult
        """,
        "dicts": """
            deep_merge get_nested merge_module_lists sanitize_for_json sanitize_message set_nested
        """,
        "exceptions": """
            BundleDependencyError BundleError BundleLoadError BundleNotFoundError
            BundleValidationError GitCloneTimeoutError
        """,
        "io": """
            parse_frontmatter read_with_retry read_yaml write_with_backup write_with_retry
            write_yaml
        """,
        "mentions.loading": """
            ContentDeduplicator ContextFile MentionResult expand_mentions_in_instruction
            load_mentions parse_mentions
        """,
        "mentions.resolver": "BaseMentionResolver",
        "paths": """
            ParsedURI construct_agent_path construct_context_path find_bundle_root find_files
            normalize_path parse_uri
        """,
        "protocols": """
            CacheProviderProtocol MentionResolverProtocol SourceHandlerProtocol
            SourceHandlerWithStatusProtocol SourceResolverProtocol SourceStatus
        """,
        "registry.registry": "BundleRegistry load_bundle",
        "registry.state": "BundleState UpdateInfo",
        "sources.resolver": "SimpleSourceResolver",
        "spawn.child": "bridge_child_cost generate_sub_session_id sum_cost_usd",
        "spawn.preferences": """
            ModelResolutionResult ProviderPreference apply_provider_preferences
            apply_provider_preferences_with_resolution is_glob_pattern resolve_model_pattern
        """,
        "subprocess_runner": "run_session_in_subprocess",
        "updates": "BundleStatus check_bundle_status update_bundle",
    },
)
