/** Searches for words in 100 000 spans of a data directory, and how long another tenant waits. */

import { mkdtempSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'

import { afterAll, beforeAll, expect, it, vi } from 'vitest'

import { systemEnv } from '../../cluster/index.ts'
import type { RunsQuestion } from '../../src/platform/query/question.ts'
import type { QueryHandlers } from '../../src/platform/threads/platform-calls.ts'
import { queryHandlers } from '../../src/platform/threads/query-handlers.ts'
import { sealBlock } from '../../src/platform/spans/block.ts'
import type { SpanPlace, SpanStore } from '../../src/platform/index.ts'
import { traceStore } from '../../src/store/embedded/platform/span-store.ts'
import { slownessNow } from '../support/budget/calibration.ts'
import { projectOf } from '../support/random-spans.ts'
import { aPost, requestOf, uuidOf } from './span-histories.ts'

const [spansMax, atOnce] = [100_000, 500]
/** The first spans, which have a word that later ones have not. */
const earlyMax = 20_000
const env = systemEnv({ name: 'words' })
const startUs = (env.nowMs() - 3_600_000) * 1_000
const project = projectOf(uuidOf(1, 0))

let directory: string
let store: SpanStore
let query: QueryHandlers

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'heddle-words-'))
  const options = { directory, diskBytes: 2 ** 40, env }
  store = traceStore({ ...options, access: 'write' })
  query = queryHandlers({ store: traceStore({ ...options, access: 'read' }), env })
  for (let from = 0; from < spansMax; from += atOnce) {
    await write('many', Array.from({ length: atOnce }, (_, at) => [from + at, words(from + at)]))
  }
  // Near misses of a long word in 1 MiB, some times.
  const nearMiss = `${'a'.repeat(199)} `.repeat(5_000)
  for (let at = 0; at < 20; at++) await write('slow', [[at, nearMiss]])
  await write('quick', [[0, 'a few words']])
  await vi.waitUntil(() => unindexed() === 0, { timeout: 240_000, interval: 500 })
}, 600_000)

afterAll(async () => {
  await Promise.all([store.close(), query.close(null)])
  await rm(directory, { recursive: true, force: true })
})

function words(seed: number): string {
  let state = seed + 1
  const some = Array.from({ length: 80 }, () => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648
    return `w${Math.floor(20_000 ** (state / 2_147_483_648))}`
  })
  // Many have it, and all of them are far behind.
  return [...some, ...seed < earlyMax ? ['early'] : []].join(' ')
}

async function write(tenant: string, all: readonly (readonly [number, string])[]): Promise<void> {
  const made = all.map(([at, text]) => {
    const id = uuidOf(2, at)
    const place: SpanPlace = { tenant, project: project.id, id, trace: id, startUs: startUs + at,
      traceStartUs: startUs + at }
    const block = sealBlock(id, place.traceStartUs, [{ span: id, kind: 'post',
      members: { inputs: Buffer.from(JSON.stringify({ text })) } }])
    return { block, span: aPost(place, { block: block.id, arrivedUs: startUs + at }) }
  })
  await store.write({ ...requestOf(tenant, made.map(({ span }) => span)),
    blocks: made.map(({ block }) => block) })
}

function unindexed(): number {
  const database = new DatabaseSync(join(directory, 'traces.db'), { readOnly: true })
  const { left } = database.prepare('SELECT count(*) AS left FROM unworded').get()!
  database.close()
  return Number(left)
}

/**
 * Processor milliseconds of this thread until a question is answered, those of others' questions
 * among them, and how many runs it found.
 */
async function asked(tenant: string, more: Partial<RunsQuestion>) {
  const began = process.threadCpuUsage()
  const answer = await query.runs({ tenant, projects: [project], order: 'newest', limit: 100,
    version: 2, select: ['id'], ...more })
  const { items } = JSON.parse(Buffer.from(answer).toString()) as { readonly items: unknown[] }
  const { user, system } = process.threadCpuUsage(began)
  return { ms: (user + system) / 1_000, count: items.length }
}

const few = { filter: 'search("few")' }

/** The 99th percentile of the milliseconds of a question. */
async function p99(ask: () => Promise<{ readonly ms: number }>): Promise<number> {
  const waits: number[] = []
  for (let at = 0; at < 100; at++) {
    await new Promise((resolve) => setTimeout(resolve, 5))
    waits.push((await ask()).ms)
  }
  return waits.toSorted((a, b) => a - b)[98]!
}

it('A word that no run has is known to be in none within 200 ms of a quiet machine.', async () => {
  for (const filter of ['search("nobody")', 'search("w1 nobody w2")', 'search(inputs, "nobody")']) {
    const all = [await asked('many', { filter }), await asked('many', { filter }),
      await asked('many', { filter })]
    expect(all.map(({ count }) => count)).toEqual([0, 0, 0])
    expect(Math.min(...all.map(({ ms }) => ms))).toBeLessThan(200 * slownessNow().cpu)
  }
})

it('Words that many runs have fill a page within 200 ms of a quiet machine.', async () => {
  for (const word of ['w1', 'early', 'earl', 'early w1']) {
    const filter = `search("${word}")`
    const all = [await asked('many', { filter }), await asked('many', { filter }),
      await asked('many', { filter })]
    expect(all.map(({ count }) => count)).toEqual([100, 100, 100])
    expect(Math.min(...all.map(({ ms }) => ms))).toBeLessThan(200 * slownessNow().cpu)
  }
})

it('Beside long searches of one tenant another waits for 100 ms of a quiet machine.', async () => {
  const long = Array.from({ length: 32 }, (_, n) => `b${'a'.repeat(150 + n)}`).join(' ')
  // Words that are in no index are looked for in each payload.
  const filter = `or(search("${long.slice(0, 4_000).replace(/ \S*$/, '')}"), eq(name, "x"))`
  const over = new AbortController()
  const slow = Array.from({ length: 4 }, async () => {
    while (!over.signal.aborted) await asked('slow', { filter })
  })
  const rounds: number[] = []
  // The best of some rounds, for the machine may have other work.
  for (let round = 0; round < 3; round++) rounds.push(await p99(() => asked('quick', few)))
  over.abort()
  await Promise.all(slow)
  expect(Math.min(...rounds)).toBeLessThan(100 * slownessNow().cpu)
}, 120_000)
