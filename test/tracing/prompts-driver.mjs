/**
 * One pass over the prompts of a version of the LangSmith client, in a process of its own, so that
 * what it prints is seen. Prints a line of JSON for each check: its name, and what went wrong.
 *
 * Usage: node prompts-driver.mjs <package> <base URL> <name of the prompt>
 */

import assert from 'node:assert/strict'

import { load } from '@langchain/core/load'
import { ChatPromptTemplate, PromptTemplate } from '@langchain/core/prompts'

import { check, collect } from './report.mjs'

const [name, apiUrl, prompt] = process.argv.slice(2)
const { Client } = await import(name)
const client = new Client({ apiUrl, apiKey: 'a key', webUrl: 'http://web.invalid' })

const template = ChatPromptTemplate.fromMessages([['system', 'Be {mood}.'], ['human', '{q}']])
const serialised = (value) => JSON.parse(JSON.stringify(value))
const hashes = async () =>
  (await collect(client.listCommits(prompt))).map(({ commit_hash: hash }) => hash)

await check('a prompt is pushed that does not exist', async () => {
  assert.equal(await client.promptExists(prompt), false)
  assert.equal(await client.getPrompt(prompt), null)
  const url = await client.pushPrompt(prompt, { object: template, description: 'A test',
    readme: '# A test', tags: ['one', 'two'] })
  assert.match(url, new RegExp(`/prompts/${prompt}/[0-9a-f]{8}\\?organizationId=`))
  assert.equal(await client.promptExists(prompt), true)
})

await check('it is pulled as it was pushed, and is a prompt again', async () => {
  const { commit_hash: hash, manifest } = await client.pullPromptCommit(prompt)
  assert.match(hash, /^[0-9a-f]{64}$/)
  assert.deepEqual(manifest, serialised(template))
  const pulled = await load(await client._pullPrompt(prompt))
  const { messages } = await pulled.invoke({ mood: 'short', q: 'Why?' })
  assert.deepEqual(messages.map(({ content }) => content), ['Be short.', 'Why?'])
  assert.deepEqual(await client.pullPromptCommit(`${prompt}:${hash}`, { skipCache: true }),
    await client.pullPromptCommit(`${prompt}:${hash.slice(0, 8)}`, { skipCache: true }))
})

await check('a second version has a parent and tags', async () => {
  const second = PromptTemplate.fromTemplate('{a} and {b}')
  const url = await client.createCommit(prompt, second)
  const [newest, oldest] = await hashes()
  assert.ok(url.includes(newest.slice(0, 8)))
  const commits = await collect(client.listCommits(prompt))
  assert.equal(commits[0].parent_commit_hash, oldest)
  await client.createCommit(prompt, template, { parentCommitHash: newest })
  assert.equal((await hashes()).length, 3)
  await assert.rejects(client.createCommit(prompt, second, { parentCommitHash: newest }),
    /The newest commit is/)
  if (name === 'langsmith') {
    await client.pushPrompt(prompt, { object: second, commitTags: ['prod', 'checked'] })
    const pulled = await client.pullPromptCommit(`${prompt}:prod`, { skipCache: true })
    assert.deepEqual(pulled.manifest, serialised(second))
  }
})

await check('it is liked, changed and found', async () => {
  assert.deepEqual(await client.likePrompt(prompt), { likes: 1 })
  assert.equal((await client.getPrompt(prompt)).liked_by_auth_user, true)
  assert.deepEqual(await client.unlikePrompt(prompt), { likes: 0 })
  await client.updatePrompt(prompt, { description: 'Changed', tags: ['three'], isArchived: false })
  const { description, tags, readme, num_commits: commits } = await client.getPrompt(prompt)
  assert.deepEqual([description, tags, readme], ['Changed', ['three'], '# A test'])
  assert.equal(commits, (await hashes()).length)
  const found = await collect(client.listPrompts({ query: prompt }))
  assert.deepEqual(found.map(({ repo_handle: handle }) => handle), [prompt])
  await client.createPrompt(`${prompt}-more`, { description: 'More' })
  assert.equal((await collect(client.listPrompts({ query: prompt }))).length, 2)
  await assert.rejects(client.createPrompt(`${prompt}-more`), /already exists/)
})

await check('what everybody sees needs a handle', async () => {
  await client.createPrompt(`acme/${prompt}-public`, { isPublic: true })
  const all = await collect(client.listPrompts({ isPublic: true, query: prompt }))
  assert.deepEqual(all.map(({ full_name: full }) => full), [`acme/${prompt}-public`])
  await assert.rejects(client.createPrompt(`other/${prompt}`), /another tenant/)
})

if (name === 'langsmith') {
  await check('the hub of LangChain pushes and pulls', async () => {
    const { pull, push } = await import('langchain/hub')
    const options = { apiUrl, apiKey: 'a key', skipCache: true }
    await push(`${prompt}-hub`, template, options)
    const pulled = await pull(`${prompt}-hub`, options)
    assert.equal(pulled.metadata.lc_hub_repo, `${prompt}-hub`)
    assert.equal((await pulled.invoke({ mood: 'short', q: 'Why?' })).messages.length, 2)
    await client.deletePrompt(`${prompt}-hub`)
  })

  await check('agents and skills are directories', async () => {
    const agent = `${prompt}-agent`
    const files = { 'AGENTS.md': { type: 'file', content: 'Be short.' } }
    await client.pushAgent(agent, { files, description: 'An agent' })
    assert.equal(await client.agentExists(agent), true)
    const pulled = await client.pullAgent(agent)
    assert.deepEqual(pulled.files, files)
    await client.pushAgent(agent, {
      files: { 'AGENTS.md': null, 'b.md': { type: 'file', content: 'b' } },
      parentCommit: pulled.commit_hash,
    })
    assert.deepEqual(Object.keys((await client.pullAgent(agent)).files), ['b.md'])
    assert.deepEqual((await client.pullAgent(agent, { version: pulled.commit_hash })).files, files)
    const agents = await collect(client.listAgents({ query: agent }))
    assert.deepEqual(agents.map(({ repo_type: type }) => type), ['agent'])
    await client.deleteAgent(agent)
    assert.equal(await client.agentExists(agent), false)
  })
}

await check('they are deleted', async () => {
  await client.deletePrompt(prompt)
  assert.equal(await client.promptExists(prompt), false)
  await assert.rejects(client.pullPromptCommit(prompt, { skipCache: true }), /no such prompt/)
  await assert.rejects(client.updatePrompt(prompt, { description: 'x' }), /does not exist/)
})
