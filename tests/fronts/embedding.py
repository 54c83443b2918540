"""A program that runs sessions itself, with the names `amplifier_tui.host` promises."""

import threading
from typing import Any

from amplifier_tui.base.capabilities.questions import QuestionAnswer
from amplifier_tui.foundation.trust.gate import trust_everything
from amplifier_tui.host import Decision, LocalClient, QuestionsReply
from tests.fronts.player import Act
from tests.fronts.stage import Held, Stage

PATIENCE = 20.0


def hold(stage: Stage) -> Held:
    """Hold the conversation of a stage."""
    held = Held(stage.folder)
    with stage.set() as bundle:
        for request, player in stage.requests(bundle, held):
            client, news, goes_on = LocalClient(trust_everything), threading.Event(), True
            client.set_waker(news.set)
            client.open(request)
            try:
                while goes_on:
                    assert news.wait(PATIENCE), [type(event).__name__ for event in held.events]
                    news.clear()
                    for event in client.drain():
                        held.events.append(event)
                        for act in player.sees(event):
                            goes_on = goes_on and do(client, act)
            finally:
                client.close().result()
            held.events += client.drain()
    return stage.end(held)


def do(client: Any, act: Act) -> bool:
    """Do what the user does; returns whether the session goes on."""
    match act.kind:
        case "prompt":
            client.submit(act.what, act.attached)
        case "steer":
            client.steer(act.what)
        case "queue":
            client.queue(act.what)
        case "stop":
            client.interrupt(immediate=act.what == "now")
        case "decide":
            allow = act.what != "deny"
            decision = Decision(allow=True, scope=act.what) if allow else Decision(allow=False)
            client.decide(act.asked.request_id, decision)
        case "answer":
            declined = act.what == "decline"
            answers = () if declined else (QuestionAnswer(act.what),)
            reply = QuestionsReply("declined" if declined else "answered", answers)
            client.answer_questions(act.asked.request_id, reply)
        case "limit":
            client.answer_limit(act.asked.request_id, go=act.what == "go")
        case "plan":
            client.carry_out(act.what)
    return act.kind != "leave"
