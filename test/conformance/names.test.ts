/** Nodes and channels that a graph does not have: most are refused before anything is written. */

import { describe, expect, it } from 'vitest'
import { useServer } from '../support/server.ts'
import { ask, messageOf } from '../support/wire.ts'

const server = useServer()

const inherited = ['constructor', '__proto__', 'toString', 'hasOwnProperty']
const internal = ['__start__', '__pregel_tasks', 'branch:to:c', '__root__']
const strange = ['nowhere', '', ...inherited]

async function threadOf(graphId = 'steps', input: object = { topic: 't' }) {
  const { thread_id: id } = await server.client.threads.create()
  await server.client.runs.wait(id, graphId, { input: input as Record<string, unknown> })
  return id
}

let unchanged: Promise<string> | undefined

/** One thread for all that is refused, since that changes nothing. */
const theThread = () => unchanged ??= threadOf()

const stateOf = async (id: string) => (await ask(server.url, 'GET', `/threads/${id}/state`)).body

/** Written as text: an object literal would set its prototype. */
const object = (name: string) => `{${JSON.stringify(name)}:1}`
const pairs = (name: string) => `[[${JSON.stringify(name)},1]]`

describe('a run', () => {
  it.each([
    ...strange.flatMap((name) => [
      ['command.goto', `"command":{"goto":${JSON.stringify(name)}}`],
      ['command.goto', `"command":{"goto":{"node":${JSON.stringify(name)},"input":{}}}`],
      ['command.goto', `"command":{"goto":["c",${JSON.stringify(name)}],"resume":"x"}`],
    ]),
    ...[...strange, ...internal].flatMap((name) => [
      ['command.update', `"command":{"update":${object(name)}}`],
      ['command.update', `"command":{"update":${pairs(name)}}`],
    ]),
  ])('whose %s names what is not there is 422: %s', async (field, part) => {
    const id = await theThread()
    const before = await stateOf(id)
    for (const path of [`/threads/${id}/runs/wait`, `/threads/${id}/runs`, '/runs/wait']) {
      const answer = await ask(server.url, 'POST', path, `{"assistant_id":"steps",${part}}`)
      expect(answer.status).toBe(422)
      expect(messageOf(answer)).toContain(`${field}: names no`)
      expect(answer.body).toMatchObject({ code: 'invalid', errors: [{ field }] })
    }
    expect(await stateOf(id)).toEqual(before)
    expect(await server.client.runs.list(id)).toHaveLength(1)
  })

  it('may end by a command, send to a node, and write every channel of the state', async () => {
    const id = await threadOf()
    expect(
      await server.client.runs.wait(id, 'steps', {
        command: { goto: '__end__', update: { topic: 'u' } },
      }),
    ).toMatchObject({ topic: 'u' })
    expect(
      await server.client.runs.wait(id, 'steps', {
        command: { goto: { node: 'c', input: { topic: 's' } }, update: [['log', ['x']]] },
      }),
    ).toMatchObject({
      log: ['a:t', 'b:t', 'c:t', 'x', 'c:s'],
    })
  })

  it('whose breakpoints name what is not there starts, and says so in a header', async () => {
    const breakpoints = { interrupt_before: ['a', 'niemals\u00e9'], interrupt_after: ['b\n'] }
    const body = { assistant_id: 'steps', input: { topic: 'u' }, ...breakpoints }
    for (const path of ['runs/wait', 'runs/stream', 'runs']) {
      const id = await threadOf()
      const answer = await ask(server.url, 'POST', `/threads/${id}/${path}`, body)
      expect([answer.status, answer.headers.get('x-heddle-warning')]).toEqual([200,
        expect.stringMatching(
          /^interrupt_before names no node of the graph: .*niemals\\u00e9.*; /,
        )])
      await expect.poll(() => stateOf(id)).toMatchObject({ next: ['a'] })
    }
    const known = await ask(server.url, 'POST', '/runs/wait', { ...body, interrupt_before: ['a'],
      interrupt_after: null })
    expect(known.headers.get('x-heddle-warning')).toBeNull()
  })

  it('takes an asterisk in a list of breakpoints for every node', async () => {
    const id = await threadOf()
    for (const interruptBefore of [['*'], ['a', '*'], ['nowhere', '*']]) {
      await server.client.runs.wait(id, 'steps', { input: { topic: 'u' }, interruptBefore })
      expect(await server.client.threads.getState(id)).toMatchObject({ next: ['a'] })
    }
    await server.client.runs.wait(id, 'steps', { input: null, interruptAfter: ['*'] })
    expect(await server.client.threads.getState(id)).toMatchObject({ next: ['b'] })
  })

  it('of a graph that is made for each use fails, and changes nothing', async () => {
    const id = await threadOf('factory', {})
    const before = await stateOf(id)
    const answer = await ask(server.url, 'POST', `/threads/${id}/runs/wait`, {
      assistant_id: 'factory',
      command: { goto: 'constructor' },
    })
    expect(answer.body).toMatchObject({ __error__: {
      message: expect.stringMatching('goto names no node of the graph: constructor'),
    } })
    expect(await stateOf(id)).toEqual(before)
  })
})

describe('an update of the state', () => {
  it.each([
    ...strange.map((name) => [`"values":{"topic":"u"},"as_node":${JSON.stringify(name)}`]),
    ...[...strange, ...internal].map((name) => [`"values":${object(name)}`]),
    ...strange.map((name) => [`"command":{"goto":${JSON.stringify(name)}},"as_node":"a"`]),
    ...strange.map((name) => [`"command":{"update":${pairs(name)}},"as_node":"a"`]),
    ...strange.map((name) => [`"values":[[{},${JSON.stringify(name)}]],"as_node":"__copy__"`]),
  ])('that names what is not there is 422: %s', async (part) => {
    const id = await theThread()
    const before = await stateOf(id)
    const answer = await ask(server.url, 'POST', `/threads/${id}/state`, `{${part}}`)
    expect(answer.status).toBe(422)
    expect(messageOf(answer)).toMatch(/names no (node of the graph|channel of the state): /)
    expect(await stateOf(id)).toEqual(before)
    const made = await ask(server.url, 'POST', '/threads', `{"metadata":{"graph_id":"steps"},
      "thread_id":"${crypto.randomUUID()}","supersteps":[
        {"updates":[{"values":{"topic":"t"},"as_node":"__input__"}]},
        {"updates":[{"as_node":"a",${part}}]}]}`)
    expect(made.status).toBe(422)
  })

  it('of a subgraph names the nodes and channels of that', async () => {
    const { thread_id: id } = await server.client.threads.create()
    await server.client.runs.wait(id, 'nestedask', { input: {} })
    const { tasks: [task] } = await server.client.threads.getState(id)
    const { checkpoint_ns } = task!.checkpoint!
    const update = (values: object) =>
      ask(server.url, 'POST', `/threads/${id}/state`, { values, checkpoint: { checkpoint_ns } })
    expect((await update({ constructor: 1 })).status).toBe(422)
    expect((await update({ nowhere: 1 })).status).toBe(422)
  })

  it('may send back the result of a run that waits', async () => {
    const { thread_id: id } = await server.client.threads.create()
    const values = await server.client.runs.wait(id, 'ask', { input: { question: 'q' } })
    expect(values).toHaveProperty('__interrupt__')
    await server.client.threads.updateState(id, { values, asNode: '__start__' })
  })
})
