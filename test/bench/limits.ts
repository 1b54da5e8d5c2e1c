/** What a request costs that is counted against a limit, beside one that is not. */

import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startServer } from '../support/server-process.ts'
import { progress } from './progress.ts'
import { figure } from './report.ts'
import type { Line } from './report.ts'
import { Served } from './served.ts'
import { median, ratios, spreadOf } from './statistics.ts'

export interface LimitPlan {
  readonly rounds: number
  /** Requests on each side in each round: by one client, and by several. */
  readonly alone: number
  readonly together: number
  readonly clients: number
}

/** So many at once, on the one side and on the other in turn. */
const blockSize = 25

const [unlimited, limited] = ['not limited', 'limited'] as const

/** Two servers of one kind, of which one counts; its limit is never reached. */
export async function limitLines(plan: LimitPlan): Promise<Line[]> {
  progress('limits')
  const folder = await mkdtemp(join(tmpdir(), 'heddle-limits-'))
  const file = join(folder, 'limits.json')
  await writeFile(file, JSON.stringify({ 'catch-all': { count: 1_000_000, intervalSeconds: 10 } }))
  const servers = await Promise.all([
    startServer({ project: 'conformance' }),
    startServer({ project: 'conformance', args: ['--limits', 'on', '--limit-overrides', file] }),
  ])
  try {
    return await linesOf(servers.map(({ url }) => url), plan)
  } finally {
    await Promise.all(servers.map((server) => server.close()))
    await rm(folder, { recursive: true })
  }
}

async function linesOf(urls: readonly string[], plan: LimitPlan): Promise<Line[]> {
  const sides = [new Served(unlimited, urls[0]!), new Served(limited, urls[1]!)]
  try {
    const asks = await Promise.all(sides.map(async (side) => {
      const { body } = await side.ask('POST', '/threads', {})
      const { thread_id: id } = body as { thread_id: string }
      return () => side.ask('GET', `/threads/${id}`)
    }))
    const [alone, together] = [newRounds(), newRounds()]
    for (let round = -1; round < plan.rounds; round += 1) {
      const [ms, rates] = [await oneByOne(asks, plan), await atOnce(asks, plan)]
      // The first one is for warmth.
      if (round < 0) continue
      for (const [place, { name }] of sides.entries()) {
        alone.get(name)!.push(median(ms[place]!))
        together.get(name)!.push(rates[place]!)
      }
    }
    return [
      { measure: 'heddle: get of a thread, 1 client, p50, limited over not limited', unit: 'times',
        figures: [figure(alone, unlimited, 'ms'), figure(alone, limited, 'ms')],
        ratio: spreadOf(ratios(alone.get(limited)!, alone.get(unlimited)!)),
        aim: { sign: '≤', value: 1.3 } },
      { measure: `heddle: get of a thread, ${plan.clients} clients, time a request, limited over ` +
        'not limited', unit: 'times',
        figures: [figure(together, unlimited, '/s'), figure(together, limited, '/s')],
        ratio: spreadOf(ratios(together.get(unlimited)!, together.get(limited)!)),
        aim: { sign: '≤', value: 1.3 } },
    ]
  } finally {
    for (const side of sides) side.close()
  }
}

type Ask = () => Promise<{ readonly ms: number }>

function newRounds() {
  return new Map<string, number[]>([[unlimited, []], [limited, []]])
}

async function oneByOne(asks: readonly Ask[], { alone }: LimitPlan): Promise<number[][]> {
  const times: number[][] = asks.map(() => [])
  for (let asked = 0; asked < alone; asked += blockSize) {
    for (const [place, ask] of asks.entries()) {
      for (let number = 0; number < blockSize; number += 1) times[place]!.push((await ask()).ms)
    }
  }
  return times
}

/** Requests a second; the sides take turns, since a machine is not as fast at any time. */
async function atOnce(asks: readonly Ask[], { together, clients }: LimitPlan): Promise<number[]> {
  const spentMs = asks.map(() => 0)
  for (let turn = 0; turn < turns; turn += 1) {
    for (const [place, ask] of asks.entries()) {
      let left = together / turns
      const began = performance.now()
      await Promise.all(Array.from({ length: clients }, async () => {
        while (left-- > 0) await ask()
      }))
      spentMs[place]! += performance.now() - began
    }
  }
  return spentMs.map((ms) => together / (ms / 1_000))
}

const turns = 8
