"""In which order the calls of a cassette were decided, where one decision made a rule."""

from amplifier_tui.host.cassettes.cassette import Cassette, TapedCall, TapedDecision


class DecisionOrder:
    """What the decisions of a cassette wait for: a rule decides what waits beside its call."""

    def __init__(self, cassette: Cassette) -> None:
        self._decisions: dict[str, TapedDecision] = {
            each.id: each.decision for each in cassette.of(TapedCall) if each.decision is not None
        }

    def rule_makers(self, call: str) -> set[str]:
        """Return the calls of its turn at which the rule may have been made that decided a call."""
        decision = self._decisions.get(call)
        if decision is None or decision.by != "rule" or decision.scope == "once":
            return set()
        others = self._of_turn(call).items()
        return {name for name, each in others if each.by == "user" and each.scope == decision.scope}

    def before(self, call: str) -> set[str]:
        """Return the calls that the user decided before the decision about this one made a rule."""
        decision = self._decisions.get(call)
        if decision is None or decision.scope == "once":
            return set()
        others = self._of_turn(call).items()
        return {name for name, other in others if 0 < other.order < decision.order}

    def _of_turn(self, call: str) -> dict[str, TapedDecision]:
        turn = call.partition(".")[0]
        decisions = self._decisions.items()
        return {name: each for name, each in decisions if name.partition(".")[0] == turn}
