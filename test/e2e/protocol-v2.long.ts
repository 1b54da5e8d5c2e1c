/** Streams of protocol v2 across the end of their server: the client comes back by itself. */

import { randomUUID } from 'node:crypto'
import { expect, it } from 'vitest'
import { useGates } from '../support/gate.ts'
import { isNight } from '../support/repeats.ts'
import { say, texts } from '../support/run-events.ts'
import { useServer } from '../support/server.ts'
import { WatchedThread } from '../support/thread-stream.ts'

const server = useServer({ project: 'conformance' })
const gate = useGates()

it.each(isNight ? ['SIGKILL', 'SIGTERM'] as const : ['SIGKILL'] as const)(
  'streams go on after %s, and repeat nothing durable',
  async (signal) => {
    const runs = []
    for (const transport of ['sse', 'websocket'] as const) {
      const hold = gate()
      const thread = new WatchedThread(server.client, randomUUID(), 'held', transport)
      await thread.subscribe()
      const runId = await thread.start(say(`hold ${hold.url}`))
      await hold.arrived()
      // The first node's state is on disk: the run is resumed behind it.
      await expect.poll(() => texts(thread.dataOf('values', []).at(-1) ?? {})).toContain('first')
      runs.push({ thread, runId, hold, before: [...thread.events] })
    }
    await server.process.kill(signal)
    await server.process.restart()
    for (const { thread, runId, hold, before } of runs) {
      await hold.arrived(2)
      hold.open()
      expect(await thread.ended(runId)).toBe('completed')
      expect(thread.events.slice(0, before.length)).toEqual(before)
      const ids = thread.events.map(({ event_id }) => event_id)
      expect(new Set(ids).size).toBe(ids.length)
      expect(thread.rootEvents(runId).map(({ params }) => params.data.event))
        .toEqual(['running', 'running', 'completed'])
      expect(texts(thread.dataOf('values', []).at(-1)).slice(1)).toEqual(['first', 'held', 'last'])
      expect(await thread.ended(await thread.start(say('next')))).toBe('completed')
      const fresh = new WatchedThread(server.client, thread.stream.threadId, 'held', 'sse')
      await fresh.subscribe(['values', 'checkpoints', 'lifecycle'])
      const last = thread.events.at(-1)!
      await expect.poll(() => fresh.events.at(-1)).toEqual(last)
      const known = new Map(thread.events.map((event) => [event.event_id, event]))
      for (const event of fresh.events) expect(known.get(event.event_id)).toEqual(event)
    }
  },
)
