"""provider-mock: a scripted agent, for demonstrations and tests without a network.

Only the model's words come from a script; the loop, the tools, the approvals and the stream are
real. What the agent says next depends on what its tools answered, so it can be denied something and
say so. The script is chosen again for every request from the conversation alone: resuming, stopping
and forking a session work as with any model.

Config:
    script: Path of a YAML or JSON file: absolute, ``~``, ``@namespace:path``, or relative to the
        working directory or to the bundle. Default: a built-in one for the sample project of the
        demo bundle.
    tokens_per_second: How fast words come. 0 does not wait at all. Default 80.
    context_window, max_output_tokens: What the provider says of its model. Default 200000, 16000.
    model: The model's name. Default ``scripted``.

The script::

    name: Anything
    scenarios:                      # the first one whose `when` holds plays the turn
      - name: fix
        when:                       # all optional
          turn: 1                   # this turn of the conversation, counted from 1
          every: 3                  # or: every third turn,
          at: 2                     #     where turn modulo 3 is 2
          prompt: "fix|repair"      # the user's words, a regular expression without case
          tools: [read_file]        # tools that have to be mounted
        steps:                      # the first step begins the turn
          look:
            thinking: What the model thinks.
            say: What it says, with {{prompt}} and other placeholders.
            call:                   # tools to call, side by side; a step without ends the turn
              - read_file: {file_path: a.py}
              - bash: "{broken"     # a text instead of a mapping: arguments that are not JSON
            next:                   # what follows; default: the next step in the list
              - if: denied          # denied, failed (not denied), or ok for all calls
                go: ask_again
              - if: {output: "regular expression"}   # found in an output
                go: done
              - go: done            # otherwise
          done:
            say: "Part {{n}}. "
            repeat: 3               # say it so often; {{n}} counts
            delay: 2                # seconds before the first word
            error: {type: RateLimitError, message: "...", status_code: 429, retry_after: 5}

Placeholders: ``{{prompt}}`` the user's words on one line, ``{{turn}}`` its number, ``{{n}}`` the
repetition, ``{{output}}`` what the first of the last calls answered, ``{{output:2}}`` the second
one, ``{{tail}}`` the last lines of the last one, ``{{reason}}`` why a call was denied, ``{{file}}``
the first file in a listing that ``read_file`` gave of a folder.
"""

from typing import Any

from amplifier_tui.kernel.coordinator import ModuleCoordinator
from amplifier_tui.modules._provider.provider import mount_provider
from amplifier_tui.modules.provider_mock.provider import MockSettings, ScriptedProvider

__all__ = ["ScriptedProvider", "mount"]

__amplifier_module_type__ = "provider"


async def mount(coordinator: ModuleCoordinator, config: dict[str, Any] | None = None) -> None:
    """Mount the provider as ``mock``.

    Raises:
        ConfigurationError: A value of the config makes no sense.
    """
    await mount_provider(coordinator, ScriptedProvider(MockSettings.read(config), coordinator))
