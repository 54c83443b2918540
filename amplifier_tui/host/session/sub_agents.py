"""Following a sub-agent: its lane, its hooks and its questions."""

from collections.abc import Mapping
from functools import partial
from typing import Any, Final

from amplifier_tui.base.capabilities.client_files import CAPABILITY as CLIENT_FILES
from amplifier_tui.base.capabilities.mcp import CAPABILITY as MCP_SERVERS
from amplifier_tui.base.capabilities.mcp import CHANGED as SERVER_CHANGED
from amplifier_tui.base.capabilities.questions import CAPABILITY as ASK_USER
from amplifier_tui.base.python import awaited
from amplifier_tui.foundation.dicts import module_entries, module_key
from amplifier_tui.foundation.spawn.capability import ChildInfo
from amplifier_tui.host.events import MAIN_LANE, TurnStatus
from amplifier_tui.host.gate.approvals.surfaces import KernelApprovals, ProviderApprovals
from amplifier_tui.host.models.routing import is_another
from amplifier_tui.host.session.parts import SessionParts
from amplifier_tui.host.store.children import ChildStore
from amplifier_tui.host.stream.notices import Display
from amplifier_tui.host.stream.results import error_text, first_line
from amplifier_tui.host.turns.plan_mode import ModeTeller
from amplifier_tui.host.turns.recorder import ContextRecorder
from amplifier_tui.kernel.correlation import is_aside
from amplifier_tui.kernel.hooks import HookTrace
from amplifier_tui.kernel.session import AmplifierSession
from amplifier_tui.kernel.session.grant import SANDBOX_CAPABILITY

_LANE_STATUS: Final[dict[str, TurnStatus]] = {"failed": "error", "cancelled": "cancelled"}


def _say_failed(parts: SessionParts, info: ChildInfo, data: Mapping[str, Any]) -> None:
    """Tell once of a module of an agent that did not mount; not of what the session lacks too."""
    module_id, instance = str(data.get("module_id")), str(data.get("instance_id") or "")
    key = (module_id, instance)
    if any((each.module_id, each.instance) == key for each in parts.facts.failed):
        return
    text = f"{module_id} of the agent {info.agent_name} failed: {data.get('problem')}"
    told = parts.facts.broken.setdefault(module_id, set())
    if text not in told:
        told.add(text)
        parts.sender.notice("error", text, module_id, info.session_id)


def _preferred(parts: SessionParts, child: AmplifierSession) -> dict[str, str]:
    """Return the models that an agent has and the session has not, by mounted provider."""
    own, wanted = (
        {_mounted_as(each): _model(each) for each in module_entries(plan.get("providers"))}
        for plan in (parts.plan, child.config)
    )
    return {name: model for name, model in wanted.items() if model and model != own.get(name)}


def _mounted_as(entry: Mapping[str, Any]) -> str:
    return str(entry.get("instance_id") or module_key(entry).removeprefix("provider-"))


def _model(entry: Mapping[str, Any]) -> str:
    config = entry.get("config")
    model = config.get("default_model") if isinstance(config, Mapping) else None
    return model if isinstance(model, str) and "${" not in model else ""


def _say_other_model(parts: SessionParts, info: ChildInfo, preferred: Mapping[str, str]) -> None:
    """Tell once of a provider that answers an agent with another model than is preferred."""
    provider = parts.route.asked.get(info.session_id, "")
    wanted = preferred.get(provider, "")
    model = parts.normalizer.usage.models.get(info.session_id, "")
    if not is_another(wanted, model):
        return
    text = f"{provider} answers the agent {info.agent_name} with {model}, not {wanted}"
    told = parts.facts.broken.setdefault(provider, set())
    if text not in told:
        told.add(text)
        parts.sender.notice("warning", text, provider, info.session_id)


async def follow(
    parts: SessionParts,
    records: ChildStore,
    child: AmplifierSession,
    parent: AmplifierSession,
    info: ChildInfo,
) -> None:
    """Follow a sub-agent from before its first module is mounted."""
    of_main = parent.session_id == parts.sender.session_id
    parent_lane = MAIN_LANE if of_main else parent.session_id
    parts.normalizer.lanes.open(info.session_id, info.agent_name, parent_lane, info.instruction)
    parts.agents.begin(info.session_id, info.agent_name, parent_lane, info.stop)
    answer = problem = ""
    followed = False
    preferred = _preferred(parts, child)

    def listen(trace: HookTrace) -> None:
        nonlocal answer, problem
        match trace.event:
            case "execution:end":
                answer = str(trace.data.get("response") or "")
            case "provider:error" if not is_aside():
                problem = first_line(error_text(trace.data.get("error")))
            case "provider:response":
                problem = ""
                _say_other_model(parts, info, preferred)
            case "module:load_failed":
                _say_failed(parts, info, trace.data)

    stop = child.coordinator.hooks.observe(listen)

    def ended() -> None:
        stop()
        status = _LANE_STATUS.get(child.status.status, "success") if followed else "error"
        if status == "success" and not answer and child.coordinator.cancellation.is_cancelled:
            status = "cancelled"  # before it came to its turn
        parts.agents.ended(info.session_id)
        parts.normalizer.lanes.close(
            info.session_id, status, problem if status == "error" else answer
        )

    # First of all: whatever fails from here on, the lane closes.
    child.coordinator.register_cleanup(ended)
    parts.agents.attach(info.session_id, child.coordinator)
    gate = parts.gating.before(info.session_id)
    gate.stand_before(child)
    parts.route.stand_before(
        child.coordinator,
        info.session_id,
        follows=child.config.get("providers") == parts.plan.get("providers"),
        preferred=preferred,
    )
    if parts.playback is not None:
        await parts.playback.stand_in(child, info.session_id)
    approvals = KernelApprovals(parts.gating.approvals, info.session_id, gate)
    approvals.observe(child.coordinator.hooks)
    display = Display(parts.sender, info.session_id)
    display.follow(child.coordinator.hooks)
    child.coordinator.approval_system = approvals
    child.coordinator.display_system = display
    parts.normalizer.observe(child.coordinator.hooks, info.session_id)
    ModeTeller(lambda: parts.gating.gate.mode).attach(child.coordinator.hooks)
    # Its events are in the log of the session on the screen.
    child.coordinator.register_capability("session.events_path", str(parts.sender.store.log.path))
    child.coordinator.register_capability(SANDBOX_CAPABILITY, parts.sandbox)
    child.coordinator.register_capability(ASK_USER, parts.questions.asker(info.session_id))
    # They are the session's, its agents included.
    for name in (MCP_SERVERS, SERVER_CHANGED, CLIENT_FILES):
        child.coordinator.register_capability(name, parent.coordinator.get_capability(name))
    rows = records.rows_of(info.session_id, parent.session_id, info.agent_name)
    rows.on_row = partial(parts.agents.row_added, info.session_id)
    recorder = ContextRecorder(rows)
    child.coordinator.register_cleanup(recorder.detach)
    provider = ProviderApprovals(parts.gating.approvals, lane=info.session_id, gate=gate)

    async def ready() -> None:
        register = child.coordinator.get_capability("approval.register_provider")
        if callable(register):
            await awaited(register(provider))
        await recorder.attach(child.coordinator.get("context"), child.coordinator.hooks)
        if not recorder.watches:
            # What it takes up later could not be told from what is new; all is written at its end.
            recorder.detach()

    queue = getattr(child.loader, "enqueue_on_session_ready", None)
    if callable(queue):
        queue("amplifier-tui", lambda coordinator: ready())
    followed = True
