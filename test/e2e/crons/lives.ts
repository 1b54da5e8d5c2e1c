/** Crons over many lives of a server: kill -9 around due times, downtime and moved clocks. */

import { setTimeout as pause } from 'node:timers/promises'
import type { Client, Cron, Run } from '@langchain/langgraph-sdk'
import { expect, vi } from 'vitest'
import { runIdOf } from '../../../src/crons/index.ts'
import { say } from '../../support/run-events.ts'
import { clientOf } from '../../support/server.ts'
import { startClocked } from './clocked-server.ts'

const minute = 60_000
/** Far from hour changes and from the clock of this machine. */
const beginMs = Date.UTC(2031, 4, 5, 12, 0, 57)

/** A life of the server by its own clock: begun, first answered, and killed. */
interface Life {
  readonly fromMs: number
  readonly answeredMs: number
  readonly throughMs: number
}

/** A run of a cron, and the due time that its id tells. */
interface Fired {
  readonly dueMs: number
  readonly createdMs: number
}

/** Time between the look at the clock that finds a due time and the run, on a busy machine. */
const slackMs = 30_000

/** Servers that may die under a run. */
const deathsMax = 3

/** How long a busy machine may take for the last runs. */
const catchUp = { timeout: 60_000, interval: 250 } as const

/** How the next life begins: minutes that pass while the server is down. */
const downtimes = [1, 1, 4, 1, 61, -2, 1, 1, 1_500, 1] as const

/** Kills the server `kills` times. Throws if any due time has no run, two runs or a wrong one. */
export async function crossLives(kills: number): Promise<void> {
  const server = await startClocked(beginMs)
  try {
    const client = clientOf(server.url)
    const { thread_id: threadId } = await client.threads.create()
    const common = { schedule: '* * * * *', input: say('again') }
    const onThread = await client.crons.createForThread(threadId, 'echo', common)
    const keeping = await client.crons.create('echo', { ...common, onRunCompleted: 'keep' })
    const deleting = await client.crons.create('echo', common)
    const lives: Life[] = []
    let [fromMs, answeredMs] = [server.nowMs(), server.nowMs()]
    for (let kill = 0; kill < kills; kill++) {
      await pause(soonDue(server.nowMs()) + Math.random() * 400)
      await server.kill('SIGKILL')
      lives.push({ fromMs, answeredMs, throughMs: server.nowMs() })
      const downMs = downtimes[kill % downtimes.length]! * minute
      // Due about when the server answers again.
      const next = Math.ceil((server.nowMs() + downMs) / minute) * minute
      await server.setClock(next - 1_200).catch(() => {})
      fromMs = server.nowMs()
      await server.restart()
      answeredMs = server.nowMs()
    }
    // Some time more, in which nothing may fire twice.
    await pause(soonDue(server.nowMs()) + 2_500)
    await vi.waitFor(async () => {
      const throughMs = server.nowMs()
      const all = [...lives, { fromMs, answeredMs, throughMs }]
      await requireOnce(onThread, await client.runs.list(threadId, { limit: 1_000 }), all)
      await requireOnce(keeping, await keptRuns(client, keeping), all)
      // Runs whose threads are deleted leave only what the cron says.
      expect(nextOf(await cronOf(client, deleting))).toBeGreaterThan(throughMs)
    }, catchUp)
  } finally {
    await server.close()
  }
}

/** Each run has a due time of its own, in a life that may fire it, and no life leaves one out. */
async function requireOnce(cron: unknown, runs: readonly Run[],
  lives: readonly Life[]): Promise<void> {
  const { cron_id: id } = cron as Cron
  const dueById = new Map<string, number>()
  for (const { fromMs, throughMs } of lives) {
    for (let due = minuteOf(fromMs - minute); due <= throughMs; due += minute) {
      dueById.set(runIdOf('local', id, due), due)
    }
  }
  const fired = runs.map((run): Fired => ({ dueMs: dueById.get(run.run_id) ?? NaN,
    createdMs: Date.parse(run.created_at) })
  )
  expect(fired.filter(({ dueMs }) => Number.isNaN(dueMs)), 'runs of no due time').toEqual([])
  expect(new Set(fired.map(({ dueMs }) => dueMs)).size).toBe(fired.length)
  const failed = runs.filter(({ status }) => status !== 'success')
  expect(failed.filter((run) => !isBlamed(run, lives))).toEqual([])
  expect(runs.every(({ metadata }) => (metadata as { cron_id?: string }).cron_id === id)).toBe(true)
  // Of the times that were missed only the latest fires.
  for (const { dueMs, createdMs } of fired) {
    expect(createdMs).toBeGreaterThanOrEqual(dueMs)
    expect(createdMs - dueMs).toBeLessThan(minute + slackMs)
  }
  // The last life had time for everything: what is due in it, and the last time that was missed.
  const { fromMs, answeredMs, throughMs } = lives.at(-1)!
  const dues = fired.map(({ dueMs }) => dueMs)
  expect(Math.max(...dues)).toBe(minuteOf(throughMs))
  expect(Math.min(...dues.filter((due) => due >= minuteOf(fromMs))))
    .toBeLessThanOrEqual(minuteOf(answeredMs))
}

/**
 * True for a run that ended with an error after three servers had died under it, as such a run is
 * held to be what kills them. Times stand still while a clock that went back catches up, so an end
 * may be later than its time.
 */
function isBlamed({ status, created_at, updated_at }: Run, lives: readonly Life[]): boolean {
  const [createdMs, endedMs] = [Date.parse(created_at), Date.parse(updated_at)]
  const begun = lives.findIndex(({ throughMs }) => createdMs <= throughMs)
  const ended = lives.findLastIndex(({ fromMs }) => fromMs <= endedMs)
  return status === 'error' && ended - begun >= deathsMax
}

async function keptRuns(client: Client, cron: unknown): Promise<Run[]> {
  const { cron_id: id } = cron as Cron
  const threads = await client.threads.search({ metadata: { cron_id: id }, limit: 1_000 })
  const runs = await Promise.all(threads.map(({ thread_id }) => client.runs.list(thread_id)))
  // Each run has a thread of its own.
  expect(runs.every(({ length }) => length === 1)).toBe(true)
  return runs.flat()
}

async function cronOf(client: Client, cron: unknown): Promise<Cron> {
  const { cron_id: id } = cron as Cron
  const all = await client.crons.search({ limit: 100 })
  return all.find(({ cron_id }) => cron_id === id)!
}

function nextOf({ next_run_date }: Cron): number {
  return Date.parse(next_run_date!)
}

function minuteOf(ms: number): number {
  return Math.floor(ms / minute) * minute
}

/** Time until the next due time; 0 if the one that the life waited for has passed already. */
function soonDue(nowMs: number): number {
  const ms = minuteOf(nowMs) + minute - nowMs
  return ms < minute / 2 ? ms : 0
}
