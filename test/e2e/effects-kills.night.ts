/** Effects that happen once, on a server that is killed, or stands still, at random times. */

import { setTimeout as pause } from 'node:timers/promises'

import { afterAll, beforeAll, expect, it, onTestFailed } from 'vitest'

import { Chance } from '../simulation/chance.ts'
import { timesWithin } from '../support/repeats.ts'
import { clientOf } from '../support/server.ts'
import { oneWorker, startServer } from '../support/server-process.ts'
import type { ServerProcess } from '../support/server-process.ts'
import { Orders } from './effects/orders.ts'

const seed = Number(process.env['HEDDLE_SEED'] ?? Date.now() % 1_000_000)
const chance = new Chance(seed)
/** Kills of the server. Each cuts off what is under way of the runs of a round. */
const killsMax = Number(process.env['HEDDLE_KILLS'] ?? 1_000)
const stopsMax = Math.ceil(killsMax / 40)
/** Minutes after which no further one is begun, of kills and of stops. */
const [killMinutes, stopMinutes] = [16, 4]
/** Time for a start, and for a round that has begun, on a machine that does much else. */
const patienceMs = 240_000
/** Runs of a round, a third of each graph. */
const runs = 48
/** Longest time that the receiver takes to answer. */
const slowMs = 700

let orders: Orders
let server: ServerProcess

beforeAll(async () => {
  orders = await Orders.open(chance, slowMs)
  server = await startServer({ project: 'effects', args: oneWorker, env: { RECEIVER: orders.url } })
}, patienceMs)
afterAll(async () => {
  await server.close()
  await orders.close()
})

it(`${killsMax} kills at random times repeat no effect (HEDDLE_SEED=${seed})`, async () => {
  const beganMs = performance.now()
  onTestFailed(() => console.log(JSON.stringify(orders.tally)))
  let kills = 0
  for (const _ of timesWithin(killsMax, killMinutes)) {
    kills++
    const placed = await orders.place([clientOf(server.url)], runs)
    await pause(chance.between(0, slowMs))
    orders.cutNow()
    await server.kill('SIGKILL')
    await server.restart()
    await orders.check(clientOf(server.url), placed)
  }
  const minutes = (performance.now() - beganMs) / 60_000
  console.log(`${kills} kills, ${(kills / minutes).toFixed(1)} a minute: ` +
    JSON.stringify(orders.tally))
  // Kills that cut nothing off would prove nothing.
  expect(orders.tally.inFlight).toBeGreaterThan(8 * kills)
  expect(orders.tally.cutOff).toBeGreaterThan(8 * kills)
}, killMinutes * 60_000 + patienceMs)

it(`${stopsMax} stops of all its threads, longer than an effect may take to begin, repeat none`,
  async () => {
    const before = { ...orders.tally }
    for (const _ of timesWithin(stopsMax, stopMinutes)) {
      const placed = await orders.place([clientOf(server.url)], runs)
      await pause(chance.between(0, 150))
      process.kill(server.pid, 'SIGSTOP')
      await pause(2_500)
      process.kill(server.pid, 'SIGCONT')
      await orders.check(clientOf(server.url), placed)
    }
    // The one that stood still got the answers itself: nothing was cut off.
    expect(orders.tally).toMatchObject({ cutOff: before.cutOff, questions: before.questions })
  }, stopMinutes * 60_000 + patienceMs)
