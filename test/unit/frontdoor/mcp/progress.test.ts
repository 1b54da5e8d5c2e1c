/** Progress of a call whose events come another way than its result, and later. */

import { describe, expect, it } from 'vitest'

import { toolClient } from '../../../support/tool-client.ts'
import { openDoor } from '../open-front-door.ts'
import type { OpenDoor } from '../open-front-door.ts'

/** The run that is started next, once its events are followed. */
async function followedRun({ threads }: OpenDoor) {
  await expect.poll(() => threads.runs.size).toBe(1)
  const run = threads.lastRun
  await expect.poll(() => run.listeners.size).toBe(1)
  return run
}

const asked = { name: 'agent', _meta: { progressToken: 'p' } }
const started = { id: '1', name: 'tasks-lean', json: '{"event":"started","id":"t","name":"plan"}' }

describe('the progress of a call', () => {
  it.each(['former', 'modern', 'kept'])('comes before a result that is there first: %s',
    async (kind) => {
      const door = await openDoor()
      const client = toolClient(door.url)
      if (kind === 'kept') await client.initialize({})
      const { messages, result } = kind === 'modern'
        ? client.streamModern('tools/call', asked)
        : client.stream('tools/call', asked)
      const run = await followedRun(door)
      run.result.resolve('{}')
      await new Promise(setImmediate)
      run.notify([started])
      run.end()
      expect(await messages.next()).toMatchObject({ params: { message: 'plan started' } })
      expect(await result).toMatchObject({ result: { structuredContent: {} } })
    })

  it('holds up a result for a second at most', async () => {
    const door = await openDoor()
    const { result } = toolClient(door.url).stream('tools/call', asked)
    const run = await followedRun(door)
    run.result.resolve('{}')
    await expect.poll(() => {
      door.env.advance(1_000)
      return run.listeners.size
    }).toBe(0)
    expect(await result).toMatchObject({ result: { structuredContent: {} } })
  })
})
