"""What the host tells a front end: frozen events, one class per thing that happened.

The engine thread creates them, the UI thread reads them; nothing mutable crosses. The same
stream feeds the screen, `amplifier-tui run --output jsonl`, the session store and the tests. This
package imports only the standard library: it is on the path to the first frame.

Every text field may hold text from models, tools, bundles or users. It is data: whoever
draws it strips control sequences and never parses it as markup.
"""

from amplifier_tui.foundation.report import ReportItem as ReportItem
from amplifier_tui.foundation.report import absent as absent
from amplifier_tui.foundation.report import summary as summary
from amplifier_tui.foundation.trust.items import TrustItem as TrustItem
from amplifier_tui.host.events.base import HostEvent as HostEvent
from amplifier_tui.host.events.instruments import BudgetChanged as BudgetChanged
from amplifier_tui.host.events.instruments import Compacted as Compacted
from amplifier_tui.host.events.instruments import HandlerHolds as HandlerHolds
from amplifier_tui.host.events.instruments import HookTraced as HookTraced
from amplifier_tui.host.events.instruments import ItemChosen as ItemChosen
from amplifier_tui.host.events.instruments import LaneClosed as LaneClosed
from amplifier_tui.host.events.instruments import LaneOpened as LaneOpened
from amplifier_tui.host.events.instruments import LaneUsed as LaneUsed
from amplifier_tui.host.events.instruments import TodoChanged as TodoChanged
from amplifier_tui.host.events.instruments import UsageChanged as UsageChanged
from amplifier_tui.host.events.modules import EngineBlocked as EngineBlocked
from amplifier_tui.host.events.modules import ModuleChangeWaits as ModuleChangeWaits
from amplifier_tui.host.events.modules import ModuleChanging as ModuleChanging
from amplifier_tui.host.events.modules import ModuleDegraded as ModuleDegraded
from amplifier_tui.host.events.modules import ModuleFailed as ModuleFailed
from amplifier_tui.host.events.modules import ModuleLeftOut as ModuleLeftOut
from amplifier_tui.host.events.modules import ModuleLoading as ModuleLoading
from amplifier_tui.host.events.modules import ModuleMounted as ModuleMounted
from amplifier_tui.host.events.modules import ModuleUnmounted as ModuleUnmounted
from amplifier_tui.host.events.records import MAIN_LANE as MAIN_LANE
from amplifier_tui.host.events.records import AnsweredBy as AnsweredBy
from amplifier_tui.host.events.records import ApprovalOutcome as ApprovalOutcome
from amplifier_tui.host.events.records import BlockKind as BlockKind
from amplifier_tui.host.events.records import CommandCard as CommandCard
from amplifier_tui.host.events.records import HandlerTrace as HandlerTrace
from amplifier_tui.host.events.records import ImageCard as ImageCard
from amplifier_tui.host.events.records import Level as Level
from amplifier_tui.host.events.records import LocalServer as LocalServer
from amplifier_tui.host.events.records import Mode as Mode
from amplifier_tui.host.events.records import ModuleKind as ModuleKind
from amplifier_tui.host.events.records import NoticeEnd as NoticeEnd
from amplifier_tui.host.events.records import PlanStep as PlanStep
from amplifier_tui.host.events.records import RewindScope as RewindScope
from amplifier_tui.host.events.records import Risk as Risk
from amplifier_tui.host.events.records import Scope as Scope
from amplifier_tui.host.events.records import Segment as Segment
from amplifier_tui.host.events.records import SourceUsage as SourceUsage
from amplifier_tui.host.events.records import TodoItem as TodoItem
from amplifier_tui.host.events.records import TurnStatus as TurnStatus
from amplifier_tui.host.events.records import Usage as Usage
from amplifier_tui.host.events.session import WORKTREE_PREFIX as WORKTREE_PREFIX
from amplifier_tui.host.events.session import BranchChanged as BranchChanged
from amplifier_tui.host.events.session import CommandsChanged as CommandsChanged
from amplifier_tui.host.events.session import Failed as Failed
from amplifier_tui.host.events.session import LimitChanged as LimitChanged
from amplifier_tui.host.events.session import LocalServersFound as LocalServersFound
from amplifier_tui.host.events.session import ModeChanged as ModeChanged
from amplifier_tui.host.events.session import ModelChanged as ModelChanged
from amplifier_tui.host.events.session import Notice as Notice
from amplifier_tui.host.events.session import OpeningReported as OpeningReported
from amplifier_tui.host.events.session import Rewound as Rewound
from amplifier_tui.host.events.session import SavingChanged as SavingChanged
from amplifier_tui.host.events.session import SessionClosed as SessionClosed
from amplifier_tui.host.events.session import SessionHeld as SessionHeld
from amplifier_tui.host.events.session import SessionOpened as SessionOpened
from amplifier_tui.host.events.session import TitleChanged as TitleChanged
from amplifier_tui.host.events.shell import JobChanged as JobChanged
from amplifier_tui.host.events.shell import ShellEnded as ShellEnded
from amplifier_tui.host.events.shell import ShellProgress as ShellProgress
from amplifier_tui.host.events.shell import ShellStarted as ShellStarted
from amplifier_tui.host.events.shell import ShellWaiting as ShellWaiting
from amplifier_tui.host.events.shell import TerminalWanted as TerminalWanted
from amplifier_tui.host.events.trust import TrustAnswered as TrustAnswered
from amplifier_tui.host.events.trust import TrustAsked as TrustAsked
from amplifier_tui.host.events.turn import ApprovalRequested as ApprovalRequested
from amplifier_tui.host.events.turn import ApprovalResolved as ApprovalResolved
from amplifier_tui.host.events.turn import BlockDelta as BlockDelta
from amplifier_tui.host.events.turn import BlockEnded as BlockEnded
from amplifier_tui.host.events.turn import BlockStarted as BlockStarted
from amplifier_tui.host.events.turn import CancelRequested as CancelRequested
from amplifier_tui.host.events.turn import ImagesAdded as ImagesAdded
from amplifier_tui.host.events.turn import LimitAsked as LimitAsked
from amplifier_tui.host.events.turn import LimitResolved as LimitResolved
from amplifier_tui.host.events.turn import PlanProposed as PlanProposed
from amplifier_tui.host.events.turn import ProviderRetrying as ProviderRetrying
from amplifier_tui.host.events.turn import QuestionsAsked as QuestionsAsked
from amplifier_tui.host.events.turn import QuestionsResolved as QuestionsResolved
from amplifier_tui.host.events.turn import QueueChanged as QueueChanged
from amplifier_tui.host.events.turn import SteerApplied as SteerApplied
from amplifier_tui.host.events.turn import ToolEnded as ToolEnded
from amplifier_tui.host.events.turn import ToolProgress as ToolProgress
from amplifier_tui.host.events.turn import ToolStarted as ToolStarted
from amplifier_tui.host.events.turn import TurnEnded as TurnEnded
from amplifier_tui.host.events.turn import TurnStarted as TurnStarted
