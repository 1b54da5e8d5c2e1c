"""The graph of agent.ts for servers of Python graphs, without effects and injected messages."""

import asyncio
import operator
from typing import Annotated, TypedDict

from langgraph.graph import START, StateGraph
from langgraph.types import interrupt


class Task(TypedDict):
    token: str
    action: str
    ms: int


class State(TypedDict):
    task: Task
    log: Annotated[list[str], operator.add]


def enter(state: State) -> dict:
    return {"log": [f"{state['task']['token']}:in"]}


async def act(state: State) -> dict:
    task = state["task"]
    if task["action"] == "slow":
        await asyncio.sleep(task["ms"] / 1000)
    if task["action"] == "fail":
        raise RuntimeError(f"Task {task['token']} fails.")
    if task["action"] == "ask":
        answer = interrupt({"token": task["token"]})
        return {"log": [f"{task['token']}:answer:{answer}"]}
    return {}


def leave(state: State) -> dict:
    return {"log": [f"{state['task']['token']}:out"]}


builder = StateGraph(State)
builder.add_node("enter", enter)
builder.add_node("act", act)
builder.add_node("leave", leave)
builder.add_edge(START, "enter")
builder.add_edge("enter", "act")
builder.add_edge("act", "leave")
graph = builder.compile()
