/**
 * 100 replays of unchanged code, through a server that is killed in the middle: all the same, no
 * call out, and all that the deployment keeps as it was.
 */

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'

import { afterAll, beforeAll, expect, it } from 'vitest'

import { eventually } from '../../support/eventually.ts'
import { replayedShop } from './replayed-shop.ts'
import type { ReplayedShop } from './replayed-shop.ts'

let house: ReplayedShop

beforeAll(async () => {
  house = await replayedShop()
  for (let batch = 0; batch < 10; batch++) {
    await Promise.all(Array.from({ length: 10 }, () => house.run('same')))
  }
}, 900_000)
afterAll(() => house?.close())

/** Niceness of all threads of the processes that a process has started. */
function nicenessOfThreads(parent: number): readonly number[] {
  const pids = readFileSync(`/proc/${parent}/task/${parent}/children`, 'utf8').trim().split(' ')
  return pids.flatMap((pid) =>
    readdirSync(`/proc/${pid}/task`).flatMap((thread) => {
      const stat = readFileSync(`/proc/${pid}/task/${thread}/stat`, 'utf8')
      return Number(stat.slice(stat.lastIndexOf(')')).split(' ')[17])
    })
  )
}

/** Tables in which nothing of a replay may be. */
const tables = ['thread', 'run', 'item', 'assistant', 'cron', 'checkpoint_place', 'thread_meta',
  'billing']

/** All rows of these tables, and of the logs of threads, of a server that has stopped. */
function rowsOf(dataDir: string): Readonly<Record<string, readonly string[]>> {
  const database = new DatabaseSync(join(dataDir, 'heddle.db'), { readOnly: true })
  try {
    const rows = (query: string) =>
      database.prepare(query).all().map((row) => JSON.stringify(row)).toSorted()
    return Object.fromEntries([
      ...tables.map((name) => [name, rows(`SELECT * FROM ${name}`)] as const),
      ['log', rows('SELECT * FROM log WHERE branch IN (SELECT branch FROM checkpoint_place)')],
    ])
  } finally {
    database.close()
  }
}

it('All are the same after a kill in the middle, and nothing else has changed.', async () => {
  const { server, model } = house
  const hits = model.received.length
  await server.kill('SIGTERM')
  const before = rowsOf(server.dataDir)
  expect(before['run']?.length).toBeGreaterThanOrEqual(100)
  await server.restart()
  const id = await house.begin('r1', { sample: 100, graph_id: 'same' })
  await eventually(async () => {
    const { body } = await house.shop.own('GET', `/replays/${id}`)
    expect(body['done']).toBeGreaterThan(20)
  })
  await server.kill('SIGKILL')
  await server.restart()
  const { replay, verdicts } = await house.ended(id)
  expect([replay.phase, verdicts.same]).toEqual(['done', 100])
  expect(model.received.length).toBe(hits)
  await server.kill('SIGTERM')
  expect(rowsOf(server.dataDir)).toEqual(before)
  expect(readdirSync(server.dataDir).filter((name) => name.includes('replay'))).toEqual([])
  await server.restart()
}, 600_000)

it('A run that loops or sleeps is ended with its process, with the reason.', async () => {
  for (const graph of ['loops', 'sleeps'] as const) await house.run(graph)
  for (const graph of ['loops', 'sleeps'] as const) {
    const id = await house.begin('r2', { graph_id: graph, run_s: 20 })
    await eventually(() => expect(nicenessOfThreads(house.server.pid)).toContain(10))
    await house.ended(id)
    expect((await house.verdicts(id))[0]).toMatchObject({ graph_id: graph, verdict: 'failed',
      reason: 'It takes longer than a replay may.' })
  }
}, 600_000)
