/** Attacks by reading: small requests with a reader's key that ask for very much. */

import type { Attack, AttackPlace } from './place.ts'

const megabyte = 1_000_000

/** A thread on which runs were given `bytes` each. */
async function threadWithRuns({ developer, send }: AttackPlace, runs: number,
  bytes: number): Promise<string> {
  const { thread_id: id } = await send(developer, '/threads', {}) as { thread_id: string }
  for (let n = 0; n < runs; n += 1) {
    const x = `${n}${'x'.repeat(bytes)}`
    await send(developer, `/threads/${id}/runs/wait`, { assistant_id: 'echo', input: { x } })
  }
  return id
}

function histories(name: string,
  { runs, bytes, atOnce }: { readonly runs: number; readonly bytes: number;
    readonly atOnce: number }): Attack {
  return { name, prepare: async (place) => {
    const { reader, drop } = place
    const id = await threadWithRuns(place, runs, bytes)
    return () =>
      Promise.all(
        Array.from({ length: atOnce },
          () => drop(reader, `/threads/${id}/history`, { limit: 1_000 })),
      )
  } }
}

export const longHistory: Attack = histories('the history of six runs of 20 MB', { runs: 6,
  bytes: 20 * megabyte, atOnce: 1 })

export const manyHistories: Attack = histories('four histories at once of 60 runs of 1 MB', {
  runs: 60,
  bytes: megabyte,
  atOnce: 4,
})

/** An assistant with versions whose context has `bytes` each. */
export const farVersions: Attack = {
  name: 'lists of 12 versions of 20 MB, and far behind them',
  prepare: async ({ developer, reader, server, send, drop }) => {
    const { assistant_id: id } = await send(developer, '/assistants', { graph_id: 'echo' }) as {
      assistant_id: string
    }
    for (let n = 0; n < 12; n += 1) {
      const body = JSON.stringify({ context: { x: 'x'.repeat(20 * megabyte) } })
      const answer = await fetch(`${server.url}/assistants/${id}`, { method: 'PATCH', body,
        headers: { 'content-type': 'application/json', 'x-api-key': developer } })
      if (!answer.ok) throw new Error(`PATCH answered ${answer.status}: ${await answer.text()}`)
    }
    const list = (limit: number, offset: number) =>
      drop(reader, `/assistants/${id}/versions`, { limit, offset })
    return () =>
      Promise.all([...Array.from({ length: 6 }, () => list(1, 2_000_000_000)),
        ...Array.from({ length: 6 }, () => list(1, 10)), list(1_000, 0)])
  },
}

/** What else shows all of large threads. */
export const otherReads: Attack = {
  name: 'searches, lists and states of eight threads with runs of 20 MB',
  prepare: async (place) => {
    const { reader, drop } = place
    const ids: string[] = []
    for (let n = 0; n < 8; n += 1) ids.push(await threadWithRuns(place, 1, 20 * megabyte))
    const [first] = ids
    return () =>
      Promise.all(Array.from({ length: 4 }, () => [
        drop(reader, '/threads/search', { limit: 1_000 }),
        drop(reader, '/threads/search', { limit: 1_000, values: { x: 'none' } }),
        drop(reader, '/threads/search', { limit: 1_000, extract: { out: 'values.out' } }),
        drop(reader, `/threads/${first}/runs?limit=1000`),
        drop(reader, `/threads/${first}/state`),
        drop(reader, `/threads/${first}`),
      ]).flat())
  },
}
