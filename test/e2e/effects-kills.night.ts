/**
 * Effects that happen once, on servers that are killed, or stand still, at random times. With
 * HEDDLE_KILLS=1000 there are so many kills, and not as many as a night has time for.
 */

import { setTimeout as pause } from 'node:timers/promises'

import { afterAll, beforeAll, expect, it, onTestFailed } from 'vitest'

import { Chance } from '../simulation/chance.ts'
import { timesWithin } from '../support/repeats.ts'
import { clientOf } from '../support/server.ts'
import { oneWorker, startServer } from '../support/server-process.ts'
import type { ServerProcess } from '../support/server-process.ts'
import { killLine, killSeed, killsMs, killTimes, patienceMs } from './effects/kill-times.ts'
import { Orders } from './effects/orders.ts'

/** Servers that are killed side by side: while one starts, the others have work. */
const lanesCount = 3
const [killMinutes, stopMinutes] = [0.4, 0.1]
/** Runs of a round, a third of each graph. */
const runs = 12
/** Longest time that the receiver takes to answer. */
const slowMs = 600

interface Lane {
  readonly chance: Chance
  readonly orders: Orders
  readonly server: ServerProcess
}

let lanes: readonly Lane[] = []

beforeAll(async () => {
  lanes = await Promise.all(Array.from({ length: lanesCount }, async (_, at) => {
    const chance = new Chance(killSeed + at)
    const orders = await Orders.open(chance, slowMs)
    const server = await startServer({ project: 'effects', args: oneWorker,
      env: { RECEIVER: orders.url } })
    return { chance, orders, server }
  }))
}, patienceMs)
afterAll(async () => {
  await Promise.all(lanes.map(async ({ orders, server }) => {
    await server.close()
    await orders.close()
  }))
})

it(`kills at random times repeat no effect (HEDDLE_SEED=${killSeed})`, async () => {
  const beganMs = performance.now()
  const all = lanes.map(({ orders }) => orders)
  let kills = 0
  onTestFailed(() => console.log(killLine(all, kills, beganMs)))
  const times = killTimes(all, killMinutes)
  await Promise.all(lanes.map(async ({ chance, orders, server }) => {
    for (const _ of times) {
      const placed = await orders.place([clientOf(server.url)], runs)
      await pause(chance.between(0, slowMs))
      orders.cutNow()
      await server.kill('SIGKILL')
      kills++
      await server.restart()
      await orders.check(clientOf(server.url), placed)
    }
  }))
  console.log(killLine(all, kills, beganMs))
  // Kills that cut nothing off would prove nothing. Few may all have come too early, or too late.
  if (kills < 5) return
  const sum = (of: 'inFlight' | 'again' | 'questions') =>
    all.reduce((found, { tally }) => found + tally[of], 0)
  expect(sum('inFlight')).toBeGreaterThan(kills)
  expect(sum('again') + sum('questions')).toBeGreaterThan(kills)
}, killsMs(killMinutes) + patienceMs)

it('stops of all threads, longer than an effect may take to begin, repeat none', async () => {
  const [{ chance, orders, server }] = lanes as [Lane]
  const { again, questions } = orders.tally
  for (const _ of timesWithin(25, stopMinutes)) {
    const placed = await orders.place([clientOf(server.url)], runs)
    await pause(chance.between(0, 150))
    process.kill(server.pid, 'SIGSTOP')
    await pause(2_500)
    process.kill(server.pid, 'SIGCONT')
    await orders.check(clientOf(server.url), placed)
  }
  // The one that stood still got the answers itself: nothing was cut off.
  expect(orders.tally).toMatchObject({ again, questions })
}, patienceMs)
