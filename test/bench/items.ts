/** Items of long-term memory: what calls take with many of them, beside LangGraph's own store. */

import { InMemoryStore } from '@langchain/langgraph'
import { mkdtempSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { ActivationTable, createRouter, defaultShards, inProcessTransport, placedOwnership,
  soleMember, systemEnv } from '../../cluster/index.ts'
import { itemKind, ItemStore } from '../../src/items/index.ts'
import { ReadQuota } from '../../src/limits/index.ts'
import { openEmbeddedStore } from '../../src/store/embedded/index.ts'
import { progress } from './progress.ts'
import type { Bench, Line } from './report.ts'
import { quantile, spreadOf } from './statistics.ts'

interface ItemPlan {
  readonly items: number
  readonly users: number
  readonly dims: number
  readonly samples: number
}

/** Measures one member with its data in a directory, without the front door. */
export async function benchItems({ quick }: { readonly quick: boolean }): Promise<Bench> {
  const plan = quick
    ? { items: 2_000, users: 20, dims: 64, samples: 30 }
    : { items: 100_000, users: 1_000, dims: 384, samples: 500 }
  return {
    title: 'Items',
    lines: await itemLines(plan),
    notes:
      `${plan.items} items in ${plan.users} namespaces, with a vector of ${plan.dims} numbers.`,
    file: '',
  }
}

const tenant = 'local'

async function itemLines(plan: ItemPlan): Promise<Line[]> {
  const { items: count, users, samples } = plan
  const directory = mkdtempSync(join(tmpdir(), 'heddle-items-'))
  const house = await openHouse(directory, plan.dims)
  const { items } = house
  const memory = new InMemoryStore()
  const userOf = (n: number) => ['users', `u${n % users}`]
  const valueOf = (n: number) => ({ kind: n % 10, n, text: `what ${n} says about plums` })
  try {
    progress(`${count} items`)
    const putOne = (n: number) =>
      items.put(tenant, { namespace: userOf(n), key: `k${n}`,
        valueJson: JSON.stringify(valueOf(n)) })
    for (let n = 0; n < count; n += 200) {
      await Promise.all(Array.from({ length: 200 }, (_, i) => putOne(n + i)))
    }
    for (let n = 0; n < count; n++) await memory.put(userOf(n), `k${n}`, valueOf(n))
    let sample = 0
    const next = () => (sample += 7_919) % count
    const measure = async (name: string, call: () => Promise<unknown>, aim?: number) => {
      progress(name)
      for (let warm = 0; warm < 20; warm++) await call()
      const took: number[] = []
      for (let each = 0; each < samples; each++) {
        const began = performance.now()
        await call()
        took.push(performance.now() - began)
      }
      return { measure: name, unit: 'ms', figures: [`p50 ${quantile(took, 0.5).toFixed(3)} ms`],
        ratio: spreadOf([quantile(took, 0.99)]),
        ...aim && { aim: { sign: '≤', value: aim } } } as Line
    }
    const place = (n: number) => ({ namespace: userOf(n), key: `k${n}` })
    const page = { limit: 10, offset: 0 }
    return [
      await measure('get, p99', () => items.get(tenant, place(next())), 1),
      await measure('get of InMemoryStore, p99', () => {
        const { namespace, key } = place(next())
        return memory.get(namespace, key)
      }),
      await measure('put, p99', () => putOne(next())),
      await measure('put of InMemoryStore, p99', () => {
        const n = next()
        return memory.put(userOf(n), `k${n}`, valueOf(n))
      }),
      await measure('filtered search of a namespace, p99', () =>
        items.search(tenant, { prefix: userOf(next()), filter: { kind: 3 }, ...page }), 5),
      await measure('filtered search of a namespace in InMemoryStore, p99', () =>
        memory.search(userOf(next()), { filter: { kind: 3 } })),
      await measure('newest of all items, p99', () =>
        items.search(tenant, { prefix: [], ...page })),
      await measure('search of a namespace by meaning, p99', () =>
        items.search(tenant, { prefix: userOf(next()), query: `${next()}`, ...page })),
      await measure('search of all items by meaning, p99', () =>
        items.search(tenant, { prefix: [], query: `${next()}`, ...page }), 50),
      await measure('listing of namespaces, p99', () =>
        items.namespaces(tenant, { conditions: [], limit: 100, offset: 0 })),
    ]
  } finally {
    await house.close()
    await rm(directory, { recursive: true })
  }
}

async function openHouse(directory: string,
  dims: number): Promise<{ readonly items: ItemStore; close(): Promise<void> }> {
  const env = systemEnv({ level: 'silent' })
  const store = await openEmbeddedStore({ directory, env })
  const view = soleMember({ id: env.uuid(), address: 'here' })
  const ownership = placedOwnership({ view, shards: defaultShards,
    epoch: await store.claimEpoch() })
  const kinds = [itemKind({ log: store.log, index: store.items, env })]
  const activations = new ActivationTable({ env, kinds })
  const transport = inProcessTransport()
  const router = createRouter({ env, ownership, activations, transport, movable: false })
  const embed = async (texts: readonly string[]) => texts.map((text) => vectorOf(text, dims))
  const items = new ItemStore({ router, search: store.items, env, reads: new ReadQuota(env),
    settings: () => ({ ttlMs: 0, refreshOnRead: true, index: { dims, fields: ['text'], embed } }) })
  return {
    items,
    close: async () => {
      await activations.close(AbortSignal.abort())
      await store.close()
    },
  }
}

/** Numbers that are different for each text and the same each time. */
function vectorOf(text: string, dims: number): number[] {
  let state = [...text].reduce((sum, character) => sum * 31 + character.charCodeAt(0) | 0, 7)
  return Array.from({ length: dims }, () => {
    state = state * 1_664_525 + 1_013_904_223 | 0
    return state / 2 ** 31
  })
}
