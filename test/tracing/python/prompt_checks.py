"""One pass over the prompts of the client for Python: prompt_checks.py <base URL> <name of the prompt>

Prints a line of JSON for each check: its name, and what went wrong.
"""

import os
import sys

BASE, PROMPT = sys.argv[1:3]
os.environ.update(LANGSMITH_ENDPOINT=BASE, LANGSMITH_API_KEY="a key")

from langchain_core.prompts import ChatPromptTemplate  # noqa: E402
from langsmith import Client  # noqa: E402
from langsmith.utils import LangSmithConflictError, LangSmithNotFoundError  # noqa: E402

from report import check, refused  # noqa: E402

client = Client(api_url=BASE, api_key="a key")
template = ChatPromptTemplate.from_messages([("system", "Be {mood}."), ("human", "{q}")])


@check
def push():
    url = client.push_prompt(PROMPT, object=template, description="A test", tags=["one"])
    assert PROMPT in url, url
    assert client.get_prompt(PROMPT).num_commits == 1


@check
def pull():
    pulled = client.pull_prompt(PROMPT)
    messages = pulled.invoke({"mood": "short", "q": "Why?"}).to_messages()
    assert [message.content for message in messages] == ["Be short.", "Why?"]
    commit = client.pull_prompt_commit(PROMPT)
    assert client.pull_prompt_commit(f"{PROMPT}:{commit.commit_hash[:8]}").manifest == commit.manifest


@check
def versions():
    client.push_prompt(PROMPT, object=ChatPromptTemplate.from_messages([("human", "{q}")]))
    commits = list(client.list_prompt_commits(PROMPT))
    assert len(commits) == 2, commits
    assert commits[0].parent_commit_hash == commits[1].commit_hash
    refused(LangSmithConflictError, lambda: client.create_commit(
        PROMPT, template, parent_commit_hash=commits[1].commit_hash))


@check
def likes_and_lists():
    assert client.like_prompt(PROMPT) == {"likes": 1}
    assert client.unlike_prompt(PROMPT) == {"likes": 0}
    client.update_prompt(PROMPT, description="Changed", is_archived=False)
    found = client.list_prompts(query=PROMPT)
    assert [repo.description for repo in found.repos] == ["Changed"], found


@check
def deletion():
    client.delete_prompt(PROMPT)
    assert client.get_prompt(PROMPT) is None
    refused(LangSmithNotFoundError, lambda: client.pull_prompt_commit(PROMPT, skip_cache=True))
