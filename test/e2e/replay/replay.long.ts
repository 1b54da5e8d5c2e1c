/** Recorded runs on the next revision: what differs is said, and nothing is called. */

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

import { afterAll, beforeAll, expect, it } from 'vitest'

import type { ControlReplay, ControlVerdict } from '../../../src/api/index.ts'
import { modelTokens } from '../../support/model-server.ts'
import { ask } from '../../support/wire.ts'
import type { GraphName } from './agents.ts'
import { replayedShop, secret } from './replayed-shop.ts'
import type { RanRun, ReplayedShop } from './replayed-shop.ts'

let house: ReplayedShop
let answered: RanRun
let killed: RanRun
let stateless: RanRun
let replay: ControlReplay
let hits = 0
const found = new Map<string, ControlVerdict>()

const ran: readonly GraphName[] = ['same', 'word', 'renamed', 'branch', 'less', 'fixed', 'broken',
  'opens', 'database', 'remembers', 'random', 'large', 'reveals']

beforeAll(async () => {
  house = await replayedShop()
  killed = await house.killed('reveals')
  stateless = await house.stateless('word')
  for (const graph of ran) await house.run(graph)
  answered = await house.run('asks', await house.run('asks'))
  hits = house.model.received.length
  replay = await house.ended(await house.begin('r2'))
  for (const each of await house.verdicts(replay.replay.id)) {
    found.set(nameOf(each), each)
  }
}, 600_000)
afterAll(() => house?.close())

function nameOf({ run_id: id, graph_id: graph }: ControlVerdict): string {
  const named = Object.entries({ answered, killed, stateless })
  return named.find(([, { runId }]) => runId === id)?.[0] ?? graph
}

it('Nothing was called, and all runs have a verdict.', () => {
  expect(house.model.received.length).toBe(hits)
  expect(replay).toMatchObject({ done: 17, replay: { phase: 'done', runs: 17, revision: 'r2' } })
})

it('Unchanged code is the same, also up to a question.', () => {
  expect(found.get('same')).toMatchObject({ verdict: 'same', reason: null, calls: 4,
    recorded_calls: 4, recorded_revision: 'r1', first_step: null, stateless: false })
  expect(found.get('asks')).toMatchObject({ verdict: 'same', calls: 1 })
})

it('Each run that differs names its group of equal differences.', async () => {
  const runs = await house.verdicts(replay.replay.id)
  const sizes = Map.groupBy(runs.filter(({ reason }) => reason !== null), ({ group }) => group)
  expect(replay.groups.map(({ key, runs: many }) => [key, many]).toSorted())
    .toEqual([...sizes].map(([key, own]) => [key, own.length]).toSorted())
  expect(found.get('same')!.group).toBeNull()
})

it('One word of one prompt changed is named at its step, with both calls.', () => {
  expect(found.get('word')).toMatchObject({ verdict: 'diverged', step: 1, node: 'plan_it',
    asked: { method: 'POST', text: expect.stringContaining('detail') as string },
    recorded: { text: expect.stringContaining('short') as string } })
})

it('A run that a person answered begins where it began.', () => {
  expect(found.get('answered')).toMatchObject({ verdict: 'diverged', step: 2, node: 'finish',
    asked: { text: expect.stringContaining('End it.') as string } })
})

it('A stateless run is replayed from its input, though its thread is gone.', async () => {
  const path = `/d/shop/threads/${stateless.threadId}`
  expect((await ask(house.server.url, 'GET', path)).status).toBe(404)
  expect(found.get('stateless')).toMatchObject({ graph_id: 'word', recorded_revision: 'r1',
    stateless: true, verdict: 'diverged', step: 1, node: 'plan_it', recorded_calls: 4 })
})

it('A run whose server was killed is replayed from where it went on.', () => {
  expect(found.get('killed')).toMatchObject({ graph_id: 'reveals', verdict: 'diverged', step: 3,
    reason: expect.stringContaining('Channel plan') as string, first_step: 3 })
})

it('Tokens are those of the recorded answers, before and after.', () => {
  const used = (recorded: number, replayed: number, is_at_least = false) => ({
    usage: { is_at_least, recorded: { tokens: recorded, cost: null },
      replayed: { tokens: replayed, cost: null } },
  })
  const each = modelTokens.input + modelTokens.output
  expect(found.get('same')).toMatchObject(used(3 * each, 3 * each))
  expect(found.get('word')).toMatchObject(used(3 * each, 0, true))
  expect(found.get('less')).toMatchObject(used(3 * each, 2 * each))
  expect(replay.usage).toMatchObject({ is_at_least: true, recorded: { cost: null } })
  expect(replay.usage.recorded.tokens).toBeGreaterThan(replay.usage.replayed.tokens!)
})

it('A renamed node has moved, and the result is the same.', () => {
  expect(found.get('renamed')).toMatchObject({ verdict: 'same_result',
    reason: 'Moved: weather → outlook',
    moved: [{ from: { step: 2, nodes: ['weather'] }, to: { step: 2, nodes: ['outlook'] } }] })
})

it('A branch more is a new call, and a call less the same result.', () => {
  expect(found.get('branch')).toMatchObject({ verdict: 'diverged', step: 2, node: 'more',
    recorded: null, reason: expect.stringContaining('New call: POST') as string })
  expect(found.get('less')).toMatchObject({ verdict: 'same_result', reason: '1 call less.',
    missing: [{ method: 'POST', site: { step: 2, nodes: ['weather'] } }] })
})

it('A failure that is gone is fixed, and one that is new has failed.', () => {
  expect(found.get('fixed')).toMatchObject({ verdict: 'fixed', step: 3, node: 'finish' })
  expect(found.get('broken')).toMatchObject({ verdict: 'failed',
    reason: expect.stringContaining('TypeError: There is no answer.') as string })
})

it('A socket is stopped with its address, and what cannot be recorded is not replayable.', () => {
  const port = new URL(house.model.url).port
  expect(found.get('opens')).toMatchObject({ verdict: 'diverged',
    reason: `It connects to 127.0.0.1:${port}, which is no HTTP call.` })
  expect(found.get('database')).toMatchObject({ verdict: 'not_replayable',
    reason: `It connects to 127.0.0.1:${port}, which is no HTTP call.` })
  expect(found.get('remembers')).toMatchObject({ verdict: 'not_replayable',
    reason: expect.stringContaining('long-term memory') as string })
  expect(found.get('large')).toMatchObject({ verdict: 'not_replayable',
    reason: expect.stringContaining('cut') as string })
})

it('Chance in a request makes a run unstable, which counts in no verdict.', () => {
  expect(found.get('random')).toMatchObject({ verdict: 'unstable', step: 1 })
})

it('It is kept as an experiment with its verdicts.', async () => {
  const { status, body } = await ask(house.server.url, 'GET',
    `/d/shop/api/v1/sessions/${replay.replay.experiment}`)
  expect([status, body]).toEqual([200, expect.objectContaining({
    name: expect.stringContaining('replay of shop on r2') as string,
  })])
})

it('The process of a replay has stars in place of the secret.', () => {
  expect(found.get('reveals')).toMatchObject({ verdict: 'diverged', step: 3, node: 'finish',
    reason: `Channel plan: "" → "${'*'.repeat(secret.length)}"` })
})

it('The secret is on disk nowhere.', () => {
  const { dataDir } = house.server
  const files = readdirSync(dataDir, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => readFileSync(join(parentPath, name), 'latin1'))
  expect(files.some((text) => text.includes(secret))).toBe(false)
})

it('Unknown revisions and replays are not found, and bad requests are refused.', async () => {
  const { shop } = house
  expect((await shop.own('POST', '/replays', { revision: 'r9' })).status).toBe(404)
  expect((await shop.own('POST', '/replays', { revision: 'r2', sample: 0 })).status).toBe(422)
  expect((await shop.own('GET', '/replays/0a1b2c3d-0000-4000-8000-000000000001')).status).toBe(404)
})

it('Runs whose threads were deleted are passed over, also a stateless one.', async () => {
  const erased = await house.background('asks')
  for (const { threadId } of [answered, erased]) await house.shop.client.threads.delete(threadId)
  const again = await house.ended(await house.begin('r2', { graph_id: 'asks' }))
  expect(again).toMatchObject({ done: 0, diverged_percent: null, replay: { runs: 0 } })
}, 300_000)
