/** How many bytes a thread takes. */

import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { say } from '../support/run-events.ts'
import { useServer } from '../support/server.ts'
import { ask } from '../support/wire.ts'

const server = useServer()

interface Use {
  readonly total_bytes: number
  readonly checkpoints: { count: number; bytes: number }
  readonly channel_values: { by_channel: Record<string, { count: number; bytes: number }> }
  readonly pending_writes: { count: number; bytes: number }
}

const useOf = async (id: string) =>
  (await ask(server.url, 'GET', `/threads/${id}/storage`)).body as Use

describe('the bytes of a thread', () => {
  it('are those of its checkpoints, channels and writes, and count for a copy too', async () => {
    const { runs, threads } = server.client
    const { thread_id: id } = await threads.create()
    expect(await useOf(id)).toMatchObject({ thread_id: id, checkpoints: { count: 0, bytes: 0 } })
    const text = 'x'.repeat(100_000)
    await runs.wait(id, 'echo', { input: say(text) })
    const use = await useOf(id)
    expect(use.checkpoints.count).toBe((await threads.getHistory(id)).length)
    expect(use.channel_values.by_channel['messages']!.bytes).toBeGreaterThan(text.length)
    expect(use.pending_writes.count).toBeGreaterThan(0)
    expect(use.total_bytes).toBeGreaterThan(2 * text.length)
    const { thread_id: copy } = await threads.copy(id)
    expect((await useOf(copy)).total_bytes).toBeGreaterThan(use.total_bytes)
    expect((await ask(server.url, 'GET', `/threads/${randomUUID()}/storage`)).status).toBe(404)
  })
})
