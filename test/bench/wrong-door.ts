/** The cost of a request through a front door whose member does not own the thread. */

import { randomUUID } from 'node:crypto'
import type { Cluster } from '../support/cluster.ts'
import { ownerPlace } from './ownership-view.ts'
import { within } from './patience.ts'
import { progress } from './progress.ts'
import { figure } from './report.ts'
import type { Line } from './report.ts'
import { Served } from './served.ts'
import { median, ratios, spreadOf } from './statistics.ts'

export interface WrongDoorPlan {
  readonly rounds: number
  readonly threads: number
  /** Samples per request, door and round. */
  readonly samples: number
}

type Request = (door: Served, threadId: string) => Promise<unknown>

const requests: Readonly<Record<string, Request>> = {
  'get of a thread': (door, threadId) => door.ask('GET', `/threads/${threadId}`),
  'state of a thread': (door, threadId) => door.ask('GET', `/threads/${threadId}/state`),
  'run-wait': (door, threadId) => door.wait(threadId, 'hello'),
}

const answerMs = 30_000
const [right, wrong] = ["the owner's door", 'another door'] as const

export async function wrongDoorLines(cluster: Cluster, plan: WrongDoorPlan): Promise<Line[]> {
  const doors = cluster.frontDoors.map((url) => new Served(url, url))
  try {
    const threads = await Promise.all(Array.from({ length: plan.threads }, async () => {
      const id = randomUUID()
      await doors[0]!.wait(id, 'hello')
      return { id, owner: await ownerPlace(cluster, id) }
    }))
    const lines: Line[] = []
    for (const [name, request] of Object.entries(requests)) {
      progress(`${name}, through both doors`)
      const ask = async (number: number, away: number) => {
        const { id, owner } = threads[number % threads.length]!
        const door = doors[(owner + away) % doors.length]!
        const began = performance.now()
        await within(answerMs, `an answer to ${name}`, request(door, id))
        return performance.now() - began
      }
      await bothDoors(ask, { ...plan, rounds: 1 }, doors.length)
      const sides = await bothDoors(ask, plan, doors.length)
      lines.push({ measure: `${name}, 1 client, p50 through another front door over the owner's`,
        unit: 'times', figures: [figure(sides, right, 'ms'), figure(sides, wrong, 'ms')],
        ratio: spreadOf(ratios(sides.get(wrong)!, sides.get(right)!)),
        aim: { sign: '≤', value: 1.5 } })
    }
    return lines
  } finally {
    for (const door of doors) door.close()
  }
}

/** Median milliseconds of each round; through the one, through the other, through the one. */
async function bothDoors(ask: (number: number, away: number) => Promise<number>,
  { rounds, samples }: WrongDoorPlan, doors: number) {
  const figures = new Map<string, number[]>([[right, []], [wrong, []]])
  for (let round = 0; round < rounds; round += 1) {
    const times = new Map<string, number[]>([[right, []], [wrong, []]])
    for (let number = 0; number < samples; number += 1) {
      times.get(right)!.push(await ask(number, 0))
      times.get(wrong)!.push(await ask(number, 1 + number % (doors - 1)))
    }
    for (const [side, ms] of times) figures.get(side)!.push(median(ms))
  }
  return figures
}
