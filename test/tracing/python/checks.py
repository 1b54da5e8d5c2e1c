"""One pass over the LangSmith client for Python: python checks.py <base URL> <name of the project>

Prints a line of JSON for each check: its name, and what went wrong.
"""

import asyncio
import datetime
import os
import sys
import time
import uuid

BASE, PROJECT = sys.argv[1:3]
os.environ.update(LANGSMITH_TRACING="true", LANGSMITH_ENDPOINT=BASE, LANGSMITH_API_KEY="a key",
                  LANGSMITH_PROJECT=PROJECT)

from langsmith import AsyncClient, Client, get_current_run_tree, traceable  # noqa: E402
from langsmith.run_trees import RunTree, get_cached_client  # noqa: E402
from langsmith.utils import LangSmithConflictError, LangSmithNotFoundError  # noqa: E402

from report import check, refused  # noqa: E402

client = get_cached_client()


def names(**question):
    return sorted(run.name for run in client.list_runs(project_name=PROJECT, **question))


def hour_ago():
    return datetime.datetime.now(datetime.timezone.utc) - datetime.timedelta(hours=1)


@traceable(run_type="llm", name="model", metadata={"ls_model_name": "small"})
def model(text):
    return {"role": "assistant", "content": text.upper(),
            "usage_metadata": {"input_tokens": 3, "output_tokens": 4, "total_tokens": 7}}


@traceable(name="agent", tags=["first"], metadata={"user": "ada", "thread_id": "thread 1"})
def agent(question):
    known["root"] = get_current_run_tree().id
    return {"answer": model(question)["content"]}


@traceable(name="streamed")
def streamed(count):
    yield from range(count)


@traceable(name="broken")
def broken():
    raise ValueError("This is meant to fail.")


known = {}


@check
def decorated_functions():
    assert agent("why?") == {"answer": "WHY?"}
    assert list(streamed(3)) == [0, 1, 2]
    refused(ValueError, broken)
    client.flush()
    runs = {run.name: run for run in client.list_runs(project_name=PROJECT)}
    assert sorted(runs) == ["agent", "broken", "model", "streamed"], sorted(runs)
    root, child = runs["agent"], runs["model"]
    assert root.id == known["root"]
    assert root.inputs == {"question": "why?"} and root.outputs == {"answer": "WHY?"}
    assert root.tags == ["first"] and root.extra["metadata"]["user"] == "ada"
    assert root.status == "success" and root.end_time >= root.start_time
    assert (child.parent_run_id, child.trace_id) == (root.id, root.id)
    assert (child.prompt_tokens, child.completion_tokens, child.total_tokens) == (3, 4, 7)
    assert runs["streamed"].outputs == {"output": [0, 1, 2]}
    assert "This is meant to fail." in runs["broken"].error
    known["project"] = root.session_id


@check
def filters():
    assert names(filter='eq(name, "agent")') == ["agent"]
    assert names(is_root=True) == ["agent", "broken", "streamed"]
    assert names(error=True) == ["broken"]
    assert names(run_type="llm") == ["model"]
    assert names(trace_id=known["root"]) == ["agent", "model"]
    assert names(parent_run_id=known["root"]) == ["model"]
    assert names(run_ids=[known["root"]]) == ["agent"]
    assert names(filter='has(tags, "first")', is_root=True) == ["agent"]
    assert names(start_time=hour_ago(), limit=2) and len(names(limit=2)) == 2
    assert names(trace_filter='eq(name, "agent")', run_type="llm") == ["model"]
    assert names(tree_filter='eq(run_type, "llm")', is_root=True) == ["agent"]
    thread = client.read_thread(thread_id="thread 1", project_name=PROJECT)
    assert [run.name for run in thread] == ["agent"]


@check
def one_run():
    run = client.read_run(known["root"], load_child_runs=True)
    assert [child.name for child in run.child_runs] == ["model"]
    assert str(known["root"]) in client.get_run_url(run=run, project_id=known["project"])
    refused(LangSmithNotFoundError, lambda: client.read_run(uuid.uuid4()))


@check
def run_trees():
    tree = RunTree(name="tree", run_type="chain", inputs={"a": 1})
    branch = tree.create_child(name="branch", run_type="tool", inputs={"b": 2})
    tree.post()
    branch.post()
    branch.end(outputs={"c": 3})
    branch.patch()
    tree.end(outputs={"d": 4})
    tree.patch()
    client.flush()
    runs = client.list_runs(project_name=PROJECT, trace_id=tree.id)
    assert sorted((run.name, run.outputs["c" if run.name == "branch" else "d"])
                  for run in runs) == [("branch", 3), ("tree", 4)]


@check
def an_attachment_and_values_that_are_no_json():
    run_id = uuid.uuid4()
    client.create_run("odd", {"when": hour_ago(), "set": {1}, "text": "\ud800 \u0000"}, "chain",
                      id=run_id, attachments={"note": ("text/plain", b"hello")},
                      end_time=datetime.datetime.now(datetime.timezone.utc), outputs={"o": b"x"})
    client.flush()
    run = client.read_run(run_id)
    assert run.name == "odd" and run.status == "success"


@check
def without_batches():
    single = Client(auto_batch_tracing=False)
    run_id = uuid.uuid4()
    single.create_run("single", {"x": 1}, "chain", id=run_id)
    assert client.read_run(run_id).status == "pending"
    single.update_run(run_id, outputs={"y": 2},
                      end_time=datetime.datetime.now(datetime.timezone.utc))
    run = client.read_run(run_id)
    assert (run.inputs, run.outputs, run.status) == ({"x": 1}, {"y": 2}, "success")


@check
def feedback():
    root = known["root"]
    given = client.create_feedback(root, "helpful", score=0.75, comment="good", trace_id=root,
                                   session_id=known["project"])
    client.flush()
    [one] = client.list_feedback(run_ids=[root])
    assert (one.id, one.key, one.score, one.comment) == (given.id, "helpful", 0.75, "good")
    client.update_feedback(given.id, score=0.5)
    assert client.read_feedback(given.id).score == 0.5
    assert client.read_run(root).feedback_stats["helpful"]["avg"] == 0.5
    assert names(filter='and(eq(feedback_key, "helpful"), gt(feedback_score, 0.4))') == ["agent"]
    token = client.create_presigned_feedback_token(root, "thumb")
    client.create_feedback_from_token(token.url, score=1)
    assert [each.score for each in client.list_feedback(run_ids=[root], feedback_key=["thumb"])] \
        == [1]
    assert len(list(client.list_presigned_feedback_tokens(root))) == 1
    client.create_feedback(root, "kind", value="warm", session_id=known["project"],
                           feedback_config={"type": "categorical",
                                            "categories": [{"value": 1, "label": "warm"}]})
    client.flush()
    assert "kind" in [each.feedback_key for each in client.list_feedback_configs()]
    client.delete_feedback(given.id)
    refused(LangSmithNotFoundError, lambda: client.read_feedback(given.id))


@check
def prices():
    price = {"name": f"{PROJECT} priced", "match_pattern": f"^{PROJECT}", "prompt_cost": 0.5,
             "completion_cost": 0.25, "prompt_cost_details": {"cache_read": 0.125}}
    made = client.request_with_retries("POST", "/model-price-map", json=price).json()

    @traceable(run_type="llm", name="priced", metadata={
        "ls_model_name": PROJECT, "ls_provider": "own", "price": "known"})
    def priced():
        return {"role": "assistant", "content": "", "usage_metadata": {
            "input_tokens": 10, "output_tokens": 4, "total_tokens": 14,
            "input_token_details": {"cache_read": 8}}}

    @traceable(name="priced outer", project_name=f"{PROJECT} priced")
    def outer():
        return priced()["role"]

    time.sleep(5.1)  # Prices that were read before hold so long.
    outer()
    client.flush()
    runs = {run.name: run for run in client.list_runs(project_name=f"{PROJECT} priced")}
    for run in [client.read_run(runs["priced"].id), runs["priced outer"]]:
        assert (run.prompt_cost, run.completion_cost, run.total_cost) == (2, 1, 3), run
    project = client.read_project(project_name=f"{PROJECT} priced", include_stats=True)
    assert project.total_cost == 3, project
    client.request_with_retries("DELETE", f"/model-price-map/{made['id']}")


@check
def projects():
    read = client.read_project(project_name=PROJECT, include_stats=True)
    assert read.id == known["project"] and read.run_count > 0
    assert client.has_project(PROJECT) and not client.has_project(f"{PROJECT} of nobody")
    made = client.create_project(f"{PROJECT} made", description="x", metadata={"a": 1})
    refused(LangSmithConflictError, lambda: client.create_project(f"{PROJECT} made"))
    client.create_project(f"{PROJECT} made", upsert=True)
    client.update_project(made.id, description="y")
    again = client.read_project(project_id=str(made.id))
    assert again.description == "y" and again.metadata == {"a": 1}
    client.delete_project(project_name=f"{PROJECT} priced")
    listed = client.list_projects(name_contains=PROJECT)
    assert sorted(each.name for each in listed) == [PROJECT, f"{PROJECT} made"]
    client.delete_project(project_name=f"{PROJECT} made")
    assert not client.has_project(f"{PROJECT} made")


@check
def statistics():
    stats = client.get_run_stats(project_names=[PROJECT], is_root=True)
    assert stats["run_count"] == 6 and stats["error_rate"] > 0, stats
    [thread] = client.list_threads(project_name=PROJECT)
    assert thread["thread_id"] == "thread 1" and thread["count"] == 1


@check
def newer_resources():
    async def read():
        project = str(known["project"])
        async with AsyncClient() as newer:
            runs = [run async for run in newer.runs.query(
                project_ids=[project], is_root=True, selects=["NAME", "STATUS", "INPUTS"])]
            traces = [trace async for trace in newer.traces.query(
                project_id=project, min_start_time=hour_ago(), selects=["NAME"])]
            threads = [thread async for thread in newer.threads.query(
                project_id=project, min_start_time=hour_ago())]
            old = [run.name async for run in newer.list_runs(project_name=PROJECT, is_root=True)]
        return runs, traces, threads, old
    runs, traces, threads, old = asyncio.run(read())
    expected = ["agent", "broken", "odd", "single", "streamed", "tree"]
    assert sorted(run.name for run in runs) == expected, runs
    assert sorted(old) == expected
    assert len(traces) == 6
    assert [thread.thread_id for thread in threads] == ["thread 1"]


@check
def as_opentelemetry():
    here = f"{PROJECT} otel"
    as_spans = Client(tracing_mode="otel")

    @traceable(name="agent", client=as_spans, project_name=here, metadata={"user": "ada"})
    def outer(question):
        return {"answer": inner(question)}

    @traceable(run_type="tool", name="inner", client=as_spans)
    def inner(question):
        return question.upper()

    assert outer("why?") == {"answer": "WHY?"}
    as_spans.flush()
    from opentelemetry import trace
    trace.get_tracer_provider().force_flush()
    runs = {run.name: run for run in client.list_runs(project_name=here)}
    assert sorted(runs) == ["agent", "inner"], sorted(runs)
    assert runs["inner"].parent_run_id == runs["agent"].id
    assert runs["agent"].outputs == {"answer": "WHY?"}


@check
def exporter_of_opentelemetry():
    from opentelemetry.exporter.otlp.proto.http import Compression
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    here = f"{PROJECT} exporter"
    provider = TracerProvider()
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter(
        f"{BASE}/otel/v1/traces", compression=Compression.Gzip,
        headers={"x-api-key": "a key", "langsmith-project": here})))
    with provider.get_tracer("checks").start_as_current_span("outer") as outer:
        outer.set_attribute("gen_ai.conversation.id", "talk 1")
        with provider.get_tracer("checks").start_as_current_span("chat small", attributes={
                "gen_ai.operation.name": "chat", "gen_ai.usage.input_tokens": 2,
                "gen_ai.usage.output_tokens": 1}):
            pass
    provider.shutdown()
    runs = {run.name: run for run in client.list_runs(project_name=here)}
    assert runs["chat small"].parent_run_id == runs["outer"].id
    assert runs["chat small"].total_tokens == 3
