"""One pass over queues and links to runs: python share_checks.py <base URL> <name that is new>

Prints a line of JSON for each check: its name, and what went wrong.
"""

import os
import sys
import uuid

BASE, NAME = sys.argv[1:3]
os.environ.update(LANGSMITH_TRACING="true", LANGSMITH_ENDPOINT=BASE, LANGSMITH_API_KEY="a key",
                  LANGSMITH_PROJECT=NAME)

from langsmith import traceable  # noqa: E402
from langsmith.run_trees import get_cached_client  # noqa: E402
from langsmith.utils import LangSmithNotFoundError  # noqa: E402

from report import check, refused  # noqa: E402

client = get_cached_client()
known = {}


@traceable(run_type="tool", name="search")
def search(question):
    return {"found": question.upper()}


@traceable(name="agent")
def agent(question):
    return search(question)


def key(run):
    return {"run_id": run.id, "session_id": run.session_id, "start_time": run.start_time}


@check
def queues():
    known["queue"] = queue = client.create_annotation_queue(
        name=NAME, description="A test", rubric_instructions="Be fair.",
        rubric_items=[{"feedback_key": "helpful", "description": "Does it help?"}])
    read = client.read_annotation_queue(queue.id)
    assert (read.name, read.description, read.rubric_instructions) == \
        (NAME, "A test", "Be fair."), read
    client.update_annotation_queue(queue.id, description="Changed", rubric_instructions="Be kind.")
    [found] = client.list_annotation_queues(name_contains=NAME)
    assert (found.id, found.description) == (queue.id, "Changed")
    assert [each.id for each in client.list_annotation_queues(queue_ids=[queue.id])] == [queue.id]
    assert list(client.list_annotation_queues(name=f"{NAME} of nobody")) == []


@check
def runs_in_a_queue():
    queue = known["queue"].id
    for question in ["one", "two", "three"]:
        agent(question)
    client.flush()
    runs = list(client.list_runs(project_name=NAME, is_root=True))
    assert len(runs) == 3
    known["run"] = runs[0]
    client.add_runs_to_annotation_queue(queue, runs=[key(run) for run in runs[:2]])
    client.add_runs_to_annotation_queue(queue, run_ids=[runs[2].id])
    client.add_runs_to_annotation_queue(queue, runs=[key(runs[0])])
    held = list(client.list_runs_from_annotation_queue(queue))
    assert sorted(run.id for run in held) == sorted(run.id for run in runs), held
    first = client.get_run_from_annotation_queue(queue, index=0)
    assert first.id == held[0].id and first.added_at is not None
    assert first.inputs == held[0].inputs and first.name == "agent"
    refused(LangSmithNotFoundError, lambda: client.get_run_from_annotation_queue(queue, index=9))
    assert len(list(client.list_runs_from_annotation_queue(queue, limit=1))) == 1
    assert len(list(client.list_runs_from_annotation_queue(queue, status="needs_my_review"))) == 3
    assert list(client.list_runs_from_annotation_queue(queue, status="completed")) == []
    client.delete_run_from_annotation_queue(queue, run_id=runs[2].id)
    left = [run.id for run in client.list_runs_from_annotation_queue(queue)]
    assert sorted(left) == sorted(run.id for run in runs[:2])


@check
def removed_queues():
    queue = known["queue"].id
    client.delete_annotation_queue(queue)
    refused(LangSmithNotFoundError, lambda: client.read_annotation_queue(queue))
    refused(LangSmithNotFoundError, lambda: client.add_runs_to_annotation_queue(
        queue, runs=[key(known["run"])]))


@check
def links_to_runs():
    run = known["run"]
    assert not client.run_is_shared(run.id)
    url = client.share_run(run.id)
    assert client.share_run(run.id) == url
    assert client.run_is_shared(run.id) and client.read_run_shared_link(run.id) == url
    token = url.split("/")[-2]
    shared = client.read_shared_run(url)
    assert (shared.id, shared.inputs, shared.outputs) == (run.id, run.inputs, run.outputs)
    assert sorted(each.name for each in client.list_shared_runs(token)) == ["agent", "search"]
    [child] = [each for each in client.list_shared_runs(token) if each.name == "search"]
    assert client.read_shared_run(token, run_id=child.id).parent_run_id == run.id
    assert [each.id for each in client.list_shared_runs(token, run_ids=[str(child.id)])] \
        == [child.id]
    [other] = [each for each in client.list_runs(project_name=NAME, is_root=True)
               if each.inputs == {"question": "one"}]
    refused(LangSmithNotFoundError, lambda: client.read_shared_run(token, run_id=other.id))
    client.unshare_run(run.id)
    assert not client.run_is_shared(run.id)
    refused(LangSmithNotFoundError, lambda: client.read_shared_run(token))


@check
def links_to_datasets():
    dataset = client.create_dataset(f"{NAME} data", description="Shared")
    client.create_examples(dataset_id=dataset.id, examples=[
        {"inputs": {"n": n}, "outputs": {"m": n * n}} for n in range(120)])
    share = client.share_dataset(dataset_name=f"{NAME} data")
    token = str(share["share_token"])
    assert share["url"].endswith(f"/public/{token}/d")
    assert str(client.read_dataset_shared_schema(dataset.id)["share_token"]) == token
    assert client.read_shared_dataset(token).name == f"{NAME} data"
    examples = list(client.list_shared_examples(token))
    assert sorted(example.inputs["n"] for example in examples) == list(range(120))
    wanted = [example.id for example in examples[:2]]
    assert sorted(each.id for each in client.list_shared_examples(token, example_ids=wanted)) \
        == sorted(wanted)
    client.evaluate(lambda inputs: {"m": inputs["n"] ** 2}, data=examples[:2],
                    experiment_prefix=NAME)
    [project] = client.list_shared_projects(dataset_share_token=token)
    assert project.name.startswith(NAME) and project.reference_dataset_id == dataset.id
    copy = client.clone_public_dataset(token, dataset_name=f"{NAME} copy")
    assert len(list(client.list_examples(dataset_id=copy.id))) == 120
    client.unshare_dataset(dataset.id)
    refused(LangSmithNotFoundError, lambda: client.read_shared_dataset(token))
    refused(LangSmithNotFoundError, lambda: client.read_shared_dataset(str(uuid.uuid4())))
