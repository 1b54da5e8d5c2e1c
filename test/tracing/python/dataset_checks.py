"""One pass over datasets and evaluation: python dataset_checks.py <base URL> <name that is new>

Prints a line of JSON for each check: its name, and what went wrong.
"""

import asyncio
import datetime
import os
import sys
import tempfile
import time
import uuid

BASE, NAME = sys.argv[1:3]
os.environ.update(LANGSMITH_TRACING="true", LANGSMITH_ENDPOINT=BASE, LANGSMITH_API_KEY="a key",
                  LANGSMITH_PROJECT=NAME)

from langsmith.evaluation import aevaluate, evaluate, evaluate_comparative  # noqa: E402
from langsmith.run_trees import get_cached_client  # noqa: E402
from langsmith.schemas import AttachmentsOperations, DataType  # noqa: E402
from langsmith.utils import LangSmithConflictError, LangSmithError  # noqa: E402
from langsmith.utils import LangSmithNotFoundError  # noqa: E402

from report import check, refused  # noqa: E402

client = get_cached_client()
DATA = f"{NAME} questions"
known = {}


def listed(**question):
    return list(client.list_examples(dataset_name=DATA, **question))


def asked(**question):
    return sorted(example.inputs["q"] for example in listed(**question))


def now():
    return datetime.datetime.now(datetime.timezone.utc)


@check
def datasets():
    known["data"] = made = client.create_dataset(
        DATA, description="d", metadata={"team": "a"},
        inputs_schema={"type": "object", "properties": {"q": {"type": "string"}},
                       "required": ["q"]})
    refused(LangSmithConflictError, lambda: client.create_dataset(DATA))
    assert client.has_dataset(dataset_name=DATA) and client.has_dataset(dataset_id=made.id)
    assert not client.has_dataset(dataset_name=f"{NAME} of nobody")
    [found] = client.list_datasets(dataset_name_contains=NAME, metadata={"team": "a"})
    assert (found.id, found.description) == (made.id, "d")
    assert client.read_dataset(dataset_id=made.id).metadata["team"] == "a"
    refused(LangSmithNotFoundError, lambda: client.read_dataset(dataset_id=uuid.uuid4()))


@check
def examples():
    data = known["data"].id
    client.create_examples(dataset_id=data, examples=[
        {"inputs": {"q": q}, "outputs": {"a": q.upper()}, "metadata": {"index": index},
         "split": "test" if index == 3 else "base"}
        for index, q in enumerate(["one", "two", "three", "four"])])
    client.create_example({"q": "five"}, dataset_id=data, outputs={"a": "FIVE"})
    known["made"] = {example.inputs["q"]: example for example in listed()}
    assert list(known["made"]) == ["one", "two", "three", "four", "five"], known["made"]
    assert asked(metadata={"index": 2}) == ["three"] and asked(splits=["test"]) == ["four"]
    assert [each.inputs["q"] for each in listed(offset=1, limit=2)] == ["two", "three"]
    one = known["made"]["one"]
    assert asked(example_ids=[one.id]) == ["one"]
    assert client.read_example(one.id).outputs == {"a": "ONE"}
    refused(LangSmithError, lambda: client.create_example({"no": 1}, dataset_id=data))
    assert client.read_dataset(dataset_name=DATA).example_count == 5


@check
def attachments():
    data = known["data"].id
    content = bytes(range(256)) * 4096
    made = client.create_example({"q": "file"}, dataset_id=data, attachments={
        "large": ("image/png", content), "small": ("text/plain", b"hi")})
    [one] = listed(example_ids=[made.id], include_attachments=True)
    assert sorted(one.attachments) == ["large", "small"]
    assert one.attachments["large"]["mime_type"] == "image/png"
    assert one.attachments["large"]["reader"].read() == content
    client.update_example(made.id, dataset_id=data, attachments_operations=AttachmentsOperations(
        rename={"small": "note"}, retain=[]))
    [changed] = listed(example_ids=[made.id], include_attachments=True)
    assert list(changed.attachments) == ["note"]
    assert changed.attachments["note"]["reader"].read() == b"hi"
    client.delete_example(made.id)
    refused(LangSmithNotFoundError, lambda: client.read_example(made.id))


@check
def versions():
    data, (one, two) = known["data"].id, [known["made"][q] for q in ("one", "two")]
    before = now()
    time.sleep(0.005)
    client.update_example(one.id, inputs={"q": "changed"}, dataset_id=data)
    client.update_examples(dataset_id=data, updates=[{"id": two.id, "outputs": {"a": "new"}}])
    assert client.read_example(one.id).inputs == {"q": "changed"}
    assert client.read_example(one.id, as_of=before).inputs == {"q": "one"}
    assert "one" in asked(as_of=before) and "one" not in asked()
    client.update_dataset_tag(dataset_name=DATA, as_of=before, tag="old")
    assert "one" in asked(as_of="old")
    assert client.read_dataset_version(dataset_name=DATA, tag="old").tags == ["old"]
    assert len(list(client.list_dataset_versions(dataset_name=DATA, limit=3))) == 3
    difference = client.diff_dataset_versions(dataset_name=DATA, from_version="old",
                                              to_version="latest")
    assert sorted(difference.examples_modified) == sorted([one.id, two.id])
    client.update_dataset_splits(dataset_name=DATA, split_name="train",
                                 example_ids=[one.id, two.id])
    assert sorted(client.list_dataset_splits(dataset_name=DATA)) == ["base", "test", "train"]
    assert asked(splits=["train"]) == ["changed", "two"]


def upper(inputs):
    return {"a": inputs["q"].upper()}


def right(outputs, reference_outputs):
    return outputs["a"] == reference_outputs["a"]


def length(outputs):
    return {"key": "length", "score": len(outputs["a"]), "comment": "characters"}


def count(outputs):
    return {"key": "count", "score": len(outputs)}


@check
def evaluation():
    known["experiments"] = [
        evaluate(upper, data=DATA, evaluators=[right, length], summary_evaluators=[count],
                 experiment_prefix=f"{NAME} {which}", metadata={"model": "small"},
                 max_concurrency=4, client=client)
        for which in ("one", "two")]
    client.flush()
    experiment = known["experiments"][0]
    assert len(list(experiment)) == 5
    name = experiment.experiment_name
    runs = list(client.list_runs(project_name=name, is_root=True))
    assert sorted(run.reference_example_id for run in runs) == sorted(e.id for e in listed())
    assert all(run.feedback_stats["right"]["n"] == 1 for run in runs)
    assert sum(run.feedback_stats["right"]["avg"] for run in runs) == 3
    project = client.read_project(project_name=name, include_stats=True)
    assert project.reference_dataset_id == known["data"].id
    assert project.feedback_stats["length"]["n"] == 5, project.feedback_stats
    assert project.session_feedback_stats["count"]["avg"] == 5, project.session_feedback_stats
    assert len(list(client.list_projects(reference_dataset_name=DATA))) == 2
    results = client.get_experiment_results(name=name)
    assert len(list(results["examples_with_runs"])) == 5
    assert results["feedback_stats"]["length"]["n"] == 5


@check
def evaluation_again():
    async def slow(inputs):
        return upper(inputs)

    async def again():
        return await aevaluate(slow, data=listed(splits=["test"]), evaluators=[right],
                               experiment_prefix=f"{NAME} async", num_repetitions=2, client=client)
    name = asyncio.run(again()).experiment_name
    client.flush()
    evaluate(name, evaluators=[length], client=client)
    client.flush()
    [first, second] = client.list_runs(project_name=name, is_root=True)
    assert first.feedback_stats["length"]["n"] == second.feedback_stats["length"]["n"] == 1


@check
def comparison():
    def better(runs, example):
        return {"key": "better", "scores": {run.id: index for index, run in enumerate(runs)}}

    names = [each.experiment_name for each in known["experiments"]]
    evaluate_comparative(names, evaluators=[better], client=client)
    client.flush()
    [second] = client.list_runs(project_name=names[1], is_root=True, limit=1)
    assert second.feedback_stats["better"]["avg"] in (0, 1)
    projects = [client.read_project(project_name=name) for name in names]
    made = client.create_comparative_experiment(f"{NAME} pair", [each.id for each in projects])
    assert made.reference_dataset_id == known["data"].id


@check
def a_file_of_values():
    with tempfile.NamedTemporaryFile("w", suffix=".csv", newline="") as file:
        file.write('q,a\r\n"with ""quotes"", and\nlines",x\r\nplain,y\r\n')
        file.flush()
        made = client.upload_csv(file.name, ["q"], ["a"], name=f"{NAME} csv")
    read = [(each.inputs["q"], each.outputs["a"])
            for each in client.list_examples(dataset_id=made.id)]
    assert read == [('with "quotes", and\nlines', "x"), ("plain", "y")], read


@check
def examples_of_runs():
    run = next(client.list_runs(project_name=known["experiments"][0].experiment_name,
                                is_root=True))
    made = client.create_dataset(f"{NAME} runs")
    example = client.create_example(run.inputs, outputs=run.outputs, dataset_id=made.id,
                                    source_run_id=run.id)
    assert client.read_example(example.id).source_run_id == run.id
    chat = client.create_dataset(f"{NAME} chat", data_type=DataType.chat)
    client.create_chat_example([{"type": "human", "data": {"content": "hi"}}],
                               {"type": "ai", "data": {"content": "hello"}}, dataset_id=chat.id)
    [line] = client.read_dataset_openai_finetuning(chat.id)
    assert [each["content"] for each in line["messages"]] == ["hi", "hello"]


@check
def many_examples():
    made = client.create_dataset(f"{NAME} many")
    client.create_examples(dataset_id=made.id, examples=[
        {"inputs": {"n": n}, "outputs": {}} for n in range(1500)])
    assert [each.inputs["n"] for each in client.list_examples(dataset_id=made.id)] \
        == list(range(1500))
    assert len(list(client.list_examples(dataset_id=made.id, limit=1200))) == 1200


@check
def removal():
    three, four = known["made"]["three"], known["made"]["four"]
    client.delete_examples([three.id])
    client.delete_examples([four.id], hard_delete=True)
    assert asked() == ["changed", "five", "two"]
    refused(LangSmithNotFoundError, lambda: client.read_example(four.id))
    client.delete_dataset(dataset_name=DATA)
    assert not client.has_dataset(dataset_name=DATA)
