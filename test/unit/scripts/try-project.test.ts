/** The command that tries projects of others: its models, and how it reads a project. */

import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'

import { expect, it, onTestFinished } from 'vitest'

import { callGraph } from '../../../scripts/try-project/call.ts'
import { valueOf } from '../../../scripts/try-project/model-answer.ts'
import { openModelStub } from '../../../scripts/try-project/model-stub.ts'
import { run, reasonIn } from '../../../scripts/try-project/program.ts'
import { installerOf, projectIn } from '../../../scripts/try-project/project.ts'
import { freshFolder, writeTree } from '../revision/trees.ts'

const schema = { type: 'object', required: ['city'], properties: {
  city: { type: 'string' },
  country: { type: 'string' },
} }
const called = { city: 'stub' }

const dialects = [
  { title: 'OpenAI', path: '/v1/chat/completions',
    text: '"content":"The stub of models says hello."',
    body: { tools: [{ type: 'function', function: { name: 'weather', parameters: schema } }] },
    answered: { messages: [{ role: 'tool', content: 'sun' }] },
    call: `"name":"weather","arguments":${JSON.stringify(JSON.stringify(called))}` },
  { title: 'Anthropic', path: '/v1/messages', text: '"text":"The stub of models says hello."',
    body: { tools: [{ name: 'weather', input_schema: schema }] },
    answered: { messages: [{ role: 'user', content: [{ type: 'tool_result' }] }] },
    call: `"name":"weather","input":${JSON.stringify(called)}` },
  { title: 'Google', path: '/v1beta/models/any:generateContent',
    text: '"text":"The stub of models says hello."', body: {
      tools: [{
        functionDeclarations: [{ name: 'weather', parameters: { ...schema, type: 'OBJECT' } }],
      }],
    }, answered: { contents: [{ role: 'function', parts: [{ functionResponse: {} }] }] },
    call: `"name":"weather","args":${JSON.stringify(called)}` },
]

it.each(dialects)('calls a tool once, then says the same words, as $title', async (dialect) => {
  const stub = await openModelStub()
  onTestFinished(() => stub.close())
  const ask = async (body: object) => {
    const answer = await fetch(stub.url + dialect.path, { method: 'POST',
      body: JSON.stringify(body) })
    return await answer.text()
  }
  expect(await ask(dialect.body)).toContain(dialect.call)
  expect(await ask({ ...dialect.body, ...dialect.answered })).toContain(dialect.text)
  expect(stub.asked).toBe(2)
})

it('answers in a schema that names itself', () => {
  const tree = { $ref: '#/$defs/tree', $defs: {
    tree: { type: 'object', required: ['next'], properties: { next: { $ref: '#/$defs/tree' } } },
  } }
  expect(JSON.stringify(valueOf(tree))).toContain('"next":')
})

it('finds the workspace of a project, its graphs, its login and its client', async () => {
  const folder = await freshFolder()
  await writeTree(folder, {
    'pnpm-lock.yaml': '',
    'package.json': '{"packageManager": "pnpm@10.5.1+sha512.00"}',
    'apps/agents/langgraph.json':
      '{"graphs": {"agent": "./src/agent.ts:graph"}, "auth": {"path": "./auth.ts:auth"}}',
    'apps/agents/src/agent.ts':
      'import { Client } from "@langchain/langgraph-sdk"\nconst client = new Client()',
  })
  const project = projectIn(`${folder}/apps/agents`)
  expect(project).toMatchObject({ home: folder, hasClient: true, hasLogin: true,
    graphs: [`${folder}/apps/agents/src/agent.ts`] })
  expect(installerOf(project).command).toEqual(['npx', '--yes', 'pnpm@10.5.1', 'install', '--prod',
    '--ignore-scripts', '--no-frozen-lockfile', '--filter', '{./apps/agents}...'])
})

it('says which folder is no project', () => {
  expect(() => projectIn('/nowhere')).toThrow('/nowhere/langgraph.json does not exist: name the')
})

it('ends a program whose time is up, and says so', async () => {
  const ended = await run({ command: [process.execPath, '-e', 'setInterval(() => {}, 1000)'],
    folder: '/', variables: {}, seconds: 0.05 })
  expect(reasonIn(ended, 0.05)).toBe('did not end in 0.05 s')
})

it('takes what Heddle said before other lines', () => {
  const output = 'heddle: The graph cannot be loaded.\nNode.js v24'
  expect(reasonIn({ code: 1, output, isLate: false }, 1)).toBe('The graph cannot be loaded.')
})

it('calls the first graph that talks, and counts the threads that it made', async () => {
  const answers: Readonly<Record<string, unknown>> = {
    '/assistants/search': [
      { assistant_id: 'three', graph_id: 'c' },
      { assistant_id: 'two', graph_id: 'b' },
      { assistant_id: 'one', graph_id: 'a' },
    ],
    '/assistants/one/schemas': { input_schema: { properties: {} } },
    '/assistants/two/schemas': { input_schema: { properties: { messages: {} } } },
    '/assistants/three/schemas': { input_schema: { properties: { messages: {} } } },
    '/threads': { thread_id: 'ours' },
    '/threads/ours/runs/wait': {},
    '/threads/count': 3,
  }
  const ran: string[] = []
  const server = createServer(async (request, response) => {
    const { url = '' } = request
    if (url.endsWith('/wait')) ran.push(await text(request))
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify(answers[url]))
  })
  await new Promise<void>((done) => void server.listen(0, '127.0.0.1', done))
  onTestFinished(() => void server.close())
  const { port } = server.address() as AddressInfo
  const call = { seconds: 5, graphs: ['a', 'b', 'c'],
    run: { config: { configurable: { model: 'stub' } } } }
  expect(await callGraph(`http://127.0.0.1:${port}`, call)).toBe(2)
  expect(JSON.parse(ran[0]!)).toMatchObject({ assistant_id: 'two',
    config: { configurable: { model: 'stub' } } })
})
