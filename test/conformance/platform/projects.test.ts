/** Projects of a real server: a name has one owner, and what was answered outlives the process. */

import { expect, it } from 'vitest'

import { isNight } from '../../support/repeats.ts'
import { useServer } from '../../support/server.ts'
import { ask } from '../../support/wire.ts'

const server = useServer({ project: 'conformance' })

interface Session {
  readonly id: string
  readonly name: string
  readonly description: string | null
}

const send = (method: string, path: string, body?: object) =>
  ask(server.url, method, `/api/v1${path}`, body)

it.runIf(isNight)('Projects keep their names, changes and deletions when the server is killed',
  async () => {
    const answers = await Promise.all(
      Array.from({ length: 16 }, () => send('POST', '/sessions', { name: 'raced' })),
    )
    expect(answers.map(({ status }) => status).toSorted())
      .toEqual([200, ...Array.from({ length: 15 }, () => 409)])
    const raced = answers.find(({ status }) => status === 200)!.body as Session
    const { body } = await send('POST', '/sessions', { name: 'other' })
    const other = body as Session
    await send('PATCH', `/sessions/${raced.id}`, { name: 'renamed', description: 'd' })
    expect((await send('DELETE', `/sessions/${other.id}`)).status).toBe(202)
    if (isNight) {
      await server.process.kill('SIGKILL')
      await server.process.restart()
    }
    const found = (await send('GET', '/sessions')).body as readonly Session[]
    expect(found).toMatchObject([{ id: raced.id, name: 'renamed', description: 'd' }])
    expect((await send('GET', `/sessions/${other.id}`)).status).toBe(404)
    expect((await send('POST', '/sessions', { name: 'renamed' })).status).toBe(409)
    expect((await send('POST', '/sessions', { name: 'other' })).status).toBe(200)
  }, 60_000)
