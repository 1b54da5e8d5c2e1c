/** The search of runs over all threads: filters, pages and fields. */

import { beforeAll, describe, expect, it } from 'vitest'
import { useGates } from '../support/gate.ts'
import { startHeld } from '../support/held-run.ts'
import { nextMillisecond } from '../support/millisecond.ts'
import { say } from '../support/run-events.ts'
import { useTenant } from '../support/tenant.ts'

/** A tenant of its own: all runs are listed here. */
const server = useTenant()
const gate = useGates()

type Run = Readonly<Record<string, unknown>>

async function search(body: object = {}) {
  const { body: runs, status, headers } = await server.ask('POST', '/runs/search', body)
  return { runs: runs as Run[], status, cursor: headers.get('x-pagination-cursor') }
}
const ids = async (body: object) => (await search(body)).runs.map(({ run_id }) => run_id)

/** In the order of creation: on two threads, one without a thread, one that failed. */
const made: string[] = []
const threads: string[] = []

beforeAll(async () => {
  const { client } = server
  for (let n = 0; n < 2; n++) threads.push((await client.threads.create()).thread_id)
  const run = async (thread: string, graph: string, input: Record<string, unknown>) => {
    await client.runs.wait(thread, graph, { input, raiseError: false })
    const [newest] = await client.runs.list(thread)
    made.push(newest!.run_id)
    await nextMillisecond()
  }
  await run(threads[0]!, 'echo', say('one'))
  await run(threads[1]!, 'echo', say('two'))
  await run(threads[1]!, 'failing', { topic: 'bad' })
  const { body } = await server.ask('POST', '/runs', { assistant_id: 'echo', input: say('x'),
    on_completion: 'keep' })
  const { run_id: lonely } = body as { run_id: string }
  await client.runs.join(lonely, lonely)
  made.push(lonely)
})

describe('a search of runs', () => {
  it('lists those of all threads, newest first, as they are, with their graph', async () => {
    const { runs, cursor } = await search()
    expect([runs.map(({ run_id }) => run_id), cursor]).toEqual([made.toReversed(), null])
    const run = { ...await server.client.runs.get(threads[1]!, made[2]!), kwargs: undefined }
    expect(runs[1]).toEqual({ graph_id: 'failing', ...run })
  })

  it('finds by status, graph, assistant, thread and time', async () => {
    const { runs } = await search()
    const [, failed, second] = runs
    expect(await ids({ status: 'error' })).toEqual([made[2]])
    expect(await ids({ status: 'success', graph_id: 'echo', thread_id: threads[1] }))
      .toEqual([made[1]])
    expect(await ids({ assistant_id: failed!['assistant_id'] })).toEqual([made[2]])
    expect(await ids({ created_after: second!['created_at'] })).toEqual([made[3], made[2]])
    expect(await ids({ created_before: second!['created_at'] })).toEqual([made[0]])
    expect(await ids({ graph_id: 'nosuch' })).toEqual([])
  })

  it('answers only the fields that were asked for', async () => {
    const { runs } = await search({ limit: 1, select: ['run_id', 'kwargs'] })
    expect(runs).toEqual([{ run_id: made[3],
      kwargs: expect.objectContaining({ input: say('x') }) }])
    expect((await search({ limit: 1, select: ['graph_id'] })).runs).toEqual([{ graph_id: 'echo' }])
  })

  it('goes on behind the page before', async () => {
    const seen: unknown[] = []
    let cursor: string | null = null
    do {
      const page = await search({ limit: 3, ...cursor && { cursor } })
      seen.push(...page.runs.map(({ run_id }) => run_id))
      cursor = page.cursor
    } while (cursor !== null)
    expect(seen).toEqual(made.toReversed())
  })

  it('finds a run that is under way, and not once it is deleted', async () => {
    const { thread_id } = await server.client.threads.create()
    const hold = gate()
    const { runId } = await startHeld(server.client, thread_id, hold)
    expect(await ids({ status: 'running' })).toEqual([runId])
    await server.client.runs.create(thread_id, 'echo', { input: say('later') })
    expect(await ids({ status: 'pending' })).toHaveLength(1)
    hold.open()
    await server.client.runs.join(thread_id, runId)
    expect(await ids({ status: 'running', thread_id })).not.toContain(runId)
    await server.client.threads.delete(thread_id)
    expect(await ids({ thread_id })).toEqual([])
    expect(await ids({})).toEqual(made.toReversed())
  })

  it.each([{ limit: 1_001 }, { status: 'asleep' }, { created_after: 'soon' }, { cursor: 'x' }, {
    select: ['colour'],
  }])('is refused with 422 if it makes no sense: %j', async (body) => {
    expect((await search(body)).status).toBe(422)
  })
})
