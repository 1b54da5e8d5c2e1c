/** What the code of runs writes to its console and to its logger, run by run. */

import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { say } from '../support/run-events.ts'
import { useServer } from '../support/server.ts'
import { ask } from '../support/wire.ts'

const server = useServer()

interface Logs {
  readonly lines: readonly { readonly seq: number; readonly text: string }[]
}

/** A run that writes four lines, and the path of its logs. */
async function written(text: string): Promise<{ id: string; runId: string; path: string }> {
  const { thread_id: id } = await server.client.threads.create()
  await server.client.runs.wait(id, 'calling', { input: say(text) })
  const [run] = await server.client.runs.list(id)
  return { id, runId: run!.run_id, path: `/threads/${id}/runs/${run!.run_id}/logs` }
}

const read = async (path: string) => (await ask(server.url, 'GET', path)).body as Logs

describe('the lines of a run', () => {
  it('are there when it has ended, with level, node and attempt, and without secrets', async () => {
    const { path } = await written('hello')
    const line = { time: expect.stringMatching(/^2\d{3}-.*/), node: 'call', attempt: 1 }
    expect(await read(path)).toEqual({ dropped: 0, truncated: false, kept: 'memory', lines: [
      { ...line, seq: 1, level: 'info', text: 'The graph calls. { messages: 1 }' },
      { ...line, seq: 2, level: 'warn', text: 'It goes on.' },
      { ...line, seq: 3, level: 'debug', text: 'It was answered: echo: hello' },
      { ...line, seq: 4, level: 'error', text: 'It would send Authorization: Bearer [secret]' },
    ] })
    expect(await read(`${path}?limit=1`)).toMatchObject({ truncated: true, lines: [{ seq: 4 }] })
    expect(await read(`${path}?limit=2&after=1`)).toMatchObject({ truncated: true,
      lines: [{ seq: 2 }, { seq: 3 }] })
    expect((await ask(server.url, 'GET', `${path}?limit=1001`)).status).toBe(422)
  })

  it('are those of that run alone', async () => {
    const runs = await Promise.all(
      ['a', 'b', 'c', 'd'].map(async (text) => ({ text, ...await written(text) })),
    )
    for (const { text, path } of runs) {
      const { lines } = await read(path)
      expect(lines.map(({ seq }) => seq)).toEqual([1, 2, 3, 4])
      expect(lines[2]!.text).toBe(`It was answered: echo: ${text}`)
    }
  })

  it('are none for a run that wrote nothing, and a 404 for one that is not there', async () => {
    const { id, runId, path } = await written('x')
    const { thread_id: other } = await server.client.threads.create()
    await server.client.runs.wait(other, 'echo', { input: say('x') })
    const [quiet] = await server.client.runs.list(other)
    expect(await read(`/threads/${other}/runs/${quiet!.run_id}/logs`))
      .toEqual({ lines: [], dropped: 0, truncated: false, kept: 'memory' })
    const gone = [`/threads/${other}/runs/${runId}/logs`,
      `/threads/${id}/runs/${randomUUID()}/logs`]
    for (const each of gone) expect((await ask(server.url, 'GET', each)).status).toBe(404)
    await server.client.runs.delete(id, runId)
    expect((await ask(server.url, 'GET', path)).status).toBe(404)
  })
})
