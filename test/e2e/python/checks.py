"""Checks of the official Python client: python checks.py <url> <names of checks>"""

import asyncio
import contextlib
import inspect
import json
import socket
import sys
import threading
import traceback
import uuid

from langgraph_sdk import get_client, get_sync_client

CHECKS = {}


def check(run):
    CHECKS[run.__name__] = run
    return run


def say(text):
    return {"messages": [{"role": "human", "content": text}]}


def texts(values):
    return [message["content"] for message in values["messages"]]


async def refused(status, call):
    """Fails unless the call is refused with this status."""
    try:
        await call
    except Exception as error:
        response = getattr(error, "response", None)
        assert response is not None and response.status_code == status, repr(error)
    else:
        raise AssertionError(f"not refused with {status}")


@contextlib.asynccontextmanager
async def gate():
    """A URL that answers when the block ends."""
    opened = asyncio.Event()

    async def answer(_, writer):
        with contextlib.suppress(ConnectionError):
            await opened.wait()
            writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\nconnection: close\r\n\r\n")
            await writer.drain()
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    try:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    finally:
        opened.set()
        server.close()


@contextlib.asynccontextmanager
async def held_run(client, thread_id):
    """A run that has begun and does not end by itself."""
    async with gate() as url:
        run = await client.runs.create(thread_id, "held", input=say(f"hold {url}"))
        while (await client.runs.get(thread_id, run["run_id"]))["status"] == "pending":
            await asyncio.sleep(0.01)
        yield run


async def new_thread(client, **options):
    return (await client.threads.create(**options))["thread_id"]


@check
async def assistants(client):
    calls = client.assistants
    made = await calls.create("echo", config={"tags": ["x"], "configurable": {"a": 1}},
        context={"b": 2}, metadata={"team": "py"}, name="first", description="A check.",
        assistant_id=str(uuid.uuid4()), if_exists="raise")
    name = made["assistant_id"]
    assert (await calls.get(name))["config"]["configurable"] == {"a": 1}
    changed = await calls.update(name, name="second", metadata={"more": True}, context={"b": 3})
    assert (changed["version"], changed["metadata"]) == (2, {"team": "py", "more": True})
    assert [each["version"] for each in await calls.get_versions(name)] == [2, 1]
    assert (await calls.set_latest(name, 1))["name"] == "first"
    found = await calls.search(metadata={"team": "py"}, graph_id="echo", limit=5,
        sort_by="name", sort_order="asc", select=["assistant_id", "name"])
    assert found == [{"assistant_id": name, "name": "first"}], found
    page = await calls.search(graph_id="echo", limit=1, response_format="object")
    assert len(page["assistants"]) == 1 and page["next"] is not None, page
    assert await calls.count(metadata={"team": "py"}) == 1
    graph = await calls.get_graph("nestedask", xray=True)
    assert any(node["id"] == "sub:deep" for node in graph["nodes"])
    schemas = await calls.get_schemas(name)
    assert schemas["graph_id"] == "echo" and "messages" in schemas["state_schema"]["properties"]
    assert list(await calls.get_subgraphs("nested", recurse=True)) == ["sub"]
    assert list(await calls.get_subgraphs("nested", "sub")) == ["sub"]
    await calls.delete(name, delete_threads=True)
    await refused(404, calls.get(name))


@check
async def threads(client):
    calls = client.threads
    thread_id = str(uuid.uuid4())
    await calls.create(thread_id=thread_id, metadata={"py": thread_id}, if_exists="raise",
        graph_id="steps", supersteps=[{"updates": [{"values": {"topic": "t"}, "as_node": "a"}]}])
    await refused(409, calls.create(thread_id=thread_id))
    assert (await calls.create(thread_id=thread_id, if_exists="do_nothing"))["status"] == "idle"
    assert (await calls.update(thread_id, metadata={"b": 1}))["metadata"]["b"] == 1
    assert await calls.update(thread_id, metadata={"b": 2}, return_minimal=True) is None
    state = await calls.get_state(thread_id, subgraphs=True)
    assert state["values"]["topic"] == "t" and state["next"] == ["b"]
    assert list(await calls.get_state(thread_id, select=["values"])) == ["values"]
    first = state["checkpoint"]
    await calls.update_state(thread_id, {"log": ["py"]}, as_node="a", checkpoint=first)
    assert (await calls.get_state(thread_id))["values"]["log"] == ["py"]
    by_id = await calls.get_state(thread_id, checkpoint_id=first["checkpoint_id"])
    by_checkpoint = await calls.get_state(thread_id, checkpoint=first)
    assert by_id["values"] == by_checkpoint["values"]
    history = await calls.get_history(thread_id, limit=1)
    assert history[0]["values"]["log"] == ["py"]
    earlier = await calls.get_history(thread_id, before=history[0]["checkpoint"], limit=5)
    assert earlier[0]["checkpoint"]["checkpoint_id"] == first["checkpoint_id"]
    found = await calls.search(metadata={"py": thread_id}, status="interrupted", limit=5,
        sort_by="created_at", sort_order="desc", select=["thread_id", "values"],
        extract={"topic": "values.topic"})
    assert [(each["thread_id"], each["extracted"]) for each in found] == [
        (thread_id, {"topic": "t"})
    ], found
    assert await calls.count(metadata={"py": thread_id}) == 1
    assert len(await calls.search(ids=[thread_id])) == 1
    await calls.copy(thread_id)
    assert await calls.count(metadata={"py": thread_id}) == 2
    await calls.delete(thread_id)
    await refused(404, calls.get(thread_id))


@check
async def runs(client):
    calls = client.runs
    thread_id = await new_thread(client)
    created = []
    values = await calls.wait(thread_id, "echo", input=say("one"), metadata={"n": 1},
        config={"recursion_limit": 9}, on_run_created=created.append)
    assert texts(values) == ["one", "echo: one"] and created[0]["thread_id"] == thread_id
    run = await calls.create(thread_id, "echo", input=say("two"), multitask_strategy="enqueue",
        durability="sync", stream_resumable=True)
    assert texts(await calls.join(thread_id, run["run_id"])) == texts(values) + ["two", "echo: two"]
    got = await calls.get(thread_id, run["run_id"])
    assert got["status"] == "success"
    listed = await calls.list(thread_id, limit=1, status="success", select=["run_id"])
    assert listed == [{"run_id": run["run_id"]}]
    events = [part.event async for part in calls.join_stream(thread_id, run["run_id"])]
    assert "error" not in events, events
    await calls.delete(thread_id, run["run_id"])
    await refused(404, calls.get(thread_id, run["run_id"]))
    assert texts(await calls.wait(None, "echo", input=say("alone")))[-1] == "echo: alone"
    failed = await calls.wait(await new_thread(client), "failing", input={"topic": "py"},
        raise_error=False)
    assert failed["__error__"]["message"] == "py", failed
    later = await calls.create(thread_id, "echo", input=say("later"), after_seconds=3600)
    await calls.cancel(thread_id, later["run_id"], action="rollback", wait=True)
    async with held_run(client, thread_id) as run:
        await calls.cancel(thread_id, run["run_id"], wait=True)
        assert (await calls.get(thread_id, run["run_id"]))["status"] == "interrupted"


@check
async def run_streams(client):
    thread_id = await new_thread(client)
    modes = ["values", "updates", "messages-tuple", "custom", "tasks", "checkpoints", "debug"]
    stream = client.runs.stream(thread_id, "tokens", input=say("x"), stream_mode=modes,
        stream_subgraphs=True, stream_resumable=True)
    parts = [part async for part in stream]
    named = {part.event for part in parts}
    assert {"metadata", "values", "updates", "tasks", "checkpoints", "debug"} <= named, named
    assert any(name.split("|")[0] == "messages" for name in named), named
    ids = [part.id for part in parts if part.id is not None]
    run_id = parts[0].data["run_id"]
    rejoined = [part.id async for part in client.runs.join_stream(thread_id, run_id,
        last_event_id=ids[0])]
    assert [each for each in rejoined if each is not None] == ids[1:]
    typed = [part async for part in client.runs.stream(None, "tokens", input=say("x"),
        stream_mode=["values", "messages"], version="v2")]
    assert {"metadata", "values"} <= {part["type"] for part in typed}
    nested = [part.event async for part in client.runs.stream(None, "nested",
        input={"topic": "t"}, stream_mode="updates", stream_subgraphs=True)]
    assert any(event.startswith("updates|sub:") for event in nested), nested


@check
async def interrupts(client):
    thread_id = await new_thread(client)
    values = await client.runs.wait(thread_id, "ask", input={"question": "q"})
    assert values["__interrupt__"][0]["value"] == {"question": "q"}
    thread = await client.threads.get(thread_id)
    assert thread["status"] == "interrupted" and len(thread["interrupts"]) == 1
    values = await client.runs.wait(thread_id, "ask", command={"resume": "yes"})
    assert values["answers"] == ["yes", "after"]
    stopped = await client.runs.wait(await new_thread(client), "steps", input={"topic": "t"},
        interrupt_before=["b"])
    assert stopped["log"] == ["a:t"]


@check
def sync_client(client, url):
    with get_sync_client(url=url, api_key=None) as sync:
        thread_id = sync.threads.create()["thread_id"]
        assert texts(sync.runs.wait(thread_id, "echo", input=say("x"))) == ["x", "echo: x"]
        events = [part.event for part in sync.runs.stream(thread_id, "echo", input=say("y"))]
        assert events.count("values") >= 2, events
        assert sync.assistants.count(graph_id="echo") >= 1
        assert len(sync.threads.get_history(thread_id)) >= 4


@check
async def batch(client):
    made = await client.runs.create_batch([
        {"assistant_id": "echo", "input": say("one")},
        {"assistant_id": "echo", "input": say("two")},
    ])
    assert len({run["run_id"] for run in made}) == 2


@check
async def cancel_many(client):
    thread_id = await new_thread(client)
    async with held_run(client, thread_id) as run:
        await client.runs.cancel_many(thread_id=thread_id, run_ids=[run["run_id"]])
        await client.runs.join(thread_id, run["run_id"])
        assert (await client.runs.get(thread_id, run["run_id"]))["status"] == "interrupted"
    async with held_run(client, thread_id) as run:
        await client.runs.cancel_many(status="running")
        await client.runs.join(thread_id, run["run_id"])
        assert (await client.runs.get(thread_id, run["run_id"]))["status"] == "interrupted"


@check
async def strict_resume(client):
    thread_id = await new_thread(client)
    values = await client.runs.wait(thread_id, "ask", input={"question": "q"})
    asked = values["__interrupt__"][0]["id"]
    resume = {"0" * 32: "no"}
    result = await client.runs.wait(thread_id, "ask", command={"resume": resume},
        strict_resume=True, raise_error=False)
    assert result["__error__"]["error"] == "UnknownInterruptError", result
    assert (await client.threads.get(thread_id))["status"] == "interrupted"
    values = await client.runs.wait(thread_id, "ask", command={"resume": {asked: "yes"}},
        strict_resume=True)
    assert values["answers"] == ["yes", "after"]


@check
async def expiry(client):
    thread_id = await new_thread(client, ttl={"ttl": 60, "strategy": "delete"})
    thread = await client.threads.get(thread_id, include=["ttl"])
    assert thread["ttl"]["strategy"] == "delete", thread
    await client.threads.update(thread_id, metadata={}, ttl=120)
    later = await client.threads.get(thread_id, include=["ttl"])
    assert later["ttl"]["expires_at"] > thread["ttl"]["expires_at"], later


@check
async def prune(client):
    kept = [await new_thread(client) for _ in range(2)]
    for thread_id in kept:
        await client.runs.wait(thread_id, "echo", input=say("x"))
    done = await client.threads.prune(kept[:1], strategy="keep_latest")
    assert done["pruned_count"] == 1, done
    assert len(await client.threads.get_history(kept[0])) == 1
    assert (await client.threads.prune(kept))["pruned_count"] == 2
    for thread_id in kept:
        await refused(404, client.threads.get(thread_id))


@check
async def thread_stream(client):
    thread_id = await new_thread(client)
    seen = []

    async def follow():
        async for part in await client.threads.join_stream(thread_id, last_event_id="-"):
            seen.append(part.event)

    following = asyncio.create_task(follow())
    for text in ("one", "two"):
        await client.runs.wait(thread_id, "echo", input=say(text))
    while seen.count("metadata") < 2:
        await asyncio.sleep(0.01)
    following.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await following


@check
async def store(client):
    calls, root = client.store, f"py-{uuid.uuid4()}"
    await calls.put_item([root, "a"], "one", {"n": 1, "kind": "x"})
    await calls.put_item([root, "a"], "two", {"n": 2, "kind": "y"}, index=False, ttl=60)
    await calls.put_item([root, "b"], "three", {"n": 3, "kind": "x"}, index=["kind"])
    item = await calls.get_item([root, "a"], "two", refresh_ttl=True)
    assert (item["value"], item["namespace"]) == ({"n": 2, "kind": "y"}, [root, "a"])
    assert await calls.get_item([root, "a"], "nosuch") is None
    found = await calls.search_items([root], filter={"n": {"$gt": 1}}, limit=5)
    assert sorted(each["key"] for each in found["items"]) == ["three", "two"], found
    found = await calls.search_items([root], filter={"kind": "x"}, limit=1, offset=1)
    assert len(found["items"]) == 1
    listed = await calls.list_namespaces(prefix=[root], suffix=["b"], max_depth=2, limit=5)
    assert listed["namespaces"] == [[root, "b"]], listed
    await calls.delete_item([root, "a"], key="one")
    assert await calls.get_item([root, "a"], "one") is None


@check
async def crons(client):
    calls, thread_id = client.crons, await new_thread(client)
    yearly, mark = "0 0 1 1 *", {"py": thread_id}
    alone = await calls.create("echo", schedule=yearly, input=say("x"), metadata=mark,
        timezone="Europe/Paris", on_run_completed="keep", stream_mode="values", durability="sync")
    bound = await calls.create_for_thread(thread_id, "echo", schedule=yearly, input=say("x"),
        metadata=mark, multitask_strategy="enqueue")
    assert (alone["thread_id"], bound["thread_id"]) == (None, thread_id)
    assert alone["next_run_date"] is not None
    paused = await calls.update(alone["cron_id"], enabled=False, metadata={"more": 1})
    assert paused["next_run_date"] is None and paused["metadata"] == {**mark, "more": 1}, paused
    found = await calls.search(metadata=mark, enabled=False, limit=5, sort_by="created_at",
        sort_order="desc", select=["cron_id"])
    assert found == [{"cron_id": alone["cron_id"]}], found
    assert await calls.count(thread_id=thread_id) == 1
    for cron in (alone, bound):
        await calls.delete(cron["cron_id"])
    assert await calls.count(metadata=mark) == 0
    await refused(422, calls.create("echo", schedule="every full moon"))


async def protocol_v2(client, transport):
    """Two runs on one thread: messages, the call of a tool, values, and the final state."""
    thread_id = str(uuid.uuid4())
    for turn in (1, 2):
        stream = client.threads.stream(thread_id, assistant_id="agent", transport=transport)
        async with stream as thread:
            await thread.run.start(input=say(f"weather {turn}"))

            async def all_of(projection):
                return [each async for each in projection]

            messages, called, values, output = await asyncio.gather(all_of(thread.messages),
                all_of(thread.tool_calls), all_of(thread.values), thread.output)
            # The client takes the replayed end of an earlier run for that of its own.
            if turn > 1:
                output = (await client.threads.get_state(thread_id))["values"]
            # A text is complete once the loop over the messages has read its end.
            said = [await message.text for message in messages]
            assert said == ["", "sunny in Paris", "It is sunny."], said
            assert [call.name for call in called] == ["weather"], called
            # The engine gives the arguments as text.
            assert "Paris" in str(called[0].input)
            assert await called[0].output is not None
            assert len(values) >= 2 and len(output["messages"]) == 4 * turn, output


@check
async def protocol_v2_sse(client):
    await protocol_v2(client, "sse")


@check
async def protocol_v2_websocket(client):
    await protocol_v2(client, "websocket")


@check
async def protocol_v2_interrupt(client):
    for transport in ("sse", "websocket"):
        stream = client.threads.stream(assistant_id="ask", transport=transport)
        async with stream as thread:
            await thread.run.start(input={"question": "q"})
            while not thread.interrupted:
                await asyncio.sleep(0.01)
            [asked] = thread.interrupts
            assert asked["value"] == {"question": "q"}, asked
            await thread.run.respond("yes")
            output = await thread.output.with_timeout(30)
            assert output["answers"] == ["yes", "after"], output


@check
async def protocol_v2_cancel(client):
    """Whoever waits for a run learns that it was cancelled."""
    for transport in ("sse", "websocket"):
        async with gate() as url:
            stream = client.threads.stream(assistant_id="held", transport=transport)
            async with stream as thread:
                started = await thread.run.start(input=say(f"hold {url}"))

                async def seen():
                    return [each async for each in thread.values]

                cancel = client.runs.cancel(thread.thread_id, started["run_id"])
                values, output, _ = await asyncio.gather(seen(), thread.output, cancel,
                    return_exceptions=True)
                assert isinstance(values, list), repr(values)
                assert str(output) == "Run errored: The run was cancelled.", repr(output)


@check
def sync_cancel(_, url):
    for transport in ("sse", "websocket"):
        with get_sync_client(url=url, api_key=None) as sync, \
                socket.create_server(("127.0.0.1", 0)) as silent:
            hold = f"hold http://127.0.0.1:{silent.getsockname()[1]}"
            with sync.threads.stream(assistant_id="held", transport=transport) as thread:
                started = thread.run.start(input=say(hold))
                cancel = threading.Thread(target=sync.runs.cancel,
                    args=(thread.thread_id, started["run_id"]))
                cancel.start()
                list(thread.values)
                try:
                    raise AssertionError(thread.output)
                except RuntimeError as error:
                    assert str(error) == "Run errored: The run was cancelled.", repr(error)
                cancel.join()


@check
async def protocol_v2_breakpoint(client):
    """Nothing is asked there: the client has the state."""
    async with client.threads.stream(assistant_id="paused") as thread:
        await thread.run.start(input={"topic": "t"})
        assert (await thread.output.with_timeout(30))["log"] == ["a:t"]


@check
async def protocol_v2_subgraph_question(client):
    async with client.threads.stream(assistant_id="nestedask") as thread:
        await thread.run.start(input={"topic": "t"})
        while not thread.interrupted:
            await asyncio.sleep(0.01)
        [asked] = thread.interrupts
        assert [part.split(":")[0] for part in asked["namespace"]] == ["sub"], asked
        await thread.run.respond("yes")
        assert (await thread.output.with_timeout(30))["log"] == ["answer yes", "after"]


@check
async def protocol_v2_subgraphs(client):
    async with client.threads.stream(assistant_id="nested") as thread:
        await thread.run.start(input={"topic": "t"})
        seen = [(graph.path, graph.graph_name) async for graph in thread.subgraphs]
        assert len(seen) == 1 and seen[0][0][0].startswith("sub"), seen
        tree = await thread.agent.get_tree()
        assert tree is not None


async def check_one(url, name):
    run = CHECKS[name]
    async with get_client(url=url, api_key=None) as client:
        if inspect.iscoroutinefunction(run):
            await asyncio.wait_for(run(client), 120)
        else:
            await asyncio.to_thread(run, client, url)


async def main(url, *names):
    """Writes a line of JSON for each check: its name, and what it found; null for nothing."""
    for name in names:
        try:
            await check_one(url, name)
            found = None
        except Exception:
            found = traceback.format_exc()
        print(json.dumps([name, found]), flush=True)


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
