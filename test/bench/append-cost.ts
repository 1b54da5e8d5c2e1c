/** The cost of an append compared to the raw driver's write of the same bytes. */

import { randomBytes, randomUUID } from 'node:crypto'
import { progress } from './progress.ts'
import type { RawDriver } from './raw-driver.ts'
import { figure } from './report.ts'
import type { Line } from './report.ts'
import { median, ratios, spreadOf } from './statistics.ts'
import type { StoreHouse } from './store-house.ts'

export interface AppendPlan {
  readonly rounds: number
  /** Appends per side and round: in sequence, and by many clients. */
  readonly alone: number
  readonly together: number
  readonly clients: number
}

/** Body of a log row: about that of a chat step. */
const bodyBytes = 1_024

type Side = 'raw driver' | 'append'
type Sides = ReadonlyMap<Side, number[]>

export async function appendLines(house: StoreHouse, raw: RawDriver,
  plan: AppendPlan): Promise<Line[]> {
  progress('appends, one client')
  await alone(house, raw, { ...plan, rounds: 1 })
  const single = await alone(house, raw, plan)
  progress(`appends, ${plan.clients} clients`)
  // Cassandra gets faster as long as its JVM still compiles.
  await together(house, raw, { ...plan, rounds: 8 })
  const many = await together(house, raw, plan)
  return [
    { measure: 'append of one row, 1 client, p50 over a raw write and a raw read', unit: 'times',
      figures: [figure(single, 'raw driver', 'ms'), figure(single, 'append', 'ms')],
      ratio: spreadOf(ratios(single.get('append')!, single.get('raw driver')!)),
      aim: { sign: '≤', value: 1.3 } },
    { measure: `appends per second, ${plan.clients} clients, over raw writes`, unit: 'times',
      figures: [figure(many, 'raw driver', '/s'), figure(many, 'append', '/s')],
      ratio: spreadOf(ratios(many.get('append')!, many.get('raw driver')!)),
      aim: { sign: '≥', value: 0.7 } },
  ]
}

/** Median milliseconds. Each append has a raw twin; which comes first alternates. */
async function alone(house: StoreHouse, raw: RawDriver, plan: AppendPlan): Promise<Sides> {
  const figures = sides()
  for (let round = 0; round < plan.rounds; round += 1) {
    const [branch, rawBranch] = [new BranchPen(house), randomUUID()]
    const times = sides()
    for (let seq = 1; seq <= plan.alone; seq += 1) {
      const body = randomBytes(bodyBytes)
      await inTurn(seq, {
        'append': async () => {
          times.get('append')!.push(await timed(() => branch.append(body)))
        },
        'raw driver': async () => {
          times.get('raw driver')!.push(await timed(async () => {
            await raw.write(rawBranch, seq, body)
            await raw.readSession(house.session)
          }))
        },
      })
    }
    for (const [side, ms] of times) figures.get(side)!.push(median(ms))
  }
  return figures
}

/** Appends per second. Each client has its own branch, and waits for each append. */
async function together(house: StoreHouse, raw: RawDriver, plan: AppendPlan): Promise<Sides> {
  const figures = sides()
  const rate = async (client: () => (seq: number) => Promise<void>) => {
    let left = plan.together
    const ms = await timed(async () => {
      await Promise.all(Array.from({ length: plan.clients }, async () => {
        const write = client()
        for (let seq = 1; left > 0; seq += 1) {
          left -= 1
          await write(seq)
        }
      }))
    })
    return plan.together / (ms / 1_000)
  }
  for (let round = 0; round < plan.rounds; round += 1) {
    await inTurn(round, {
      'append': async () => {
        figures.get('append')!.push(await rate(() => {
          const branch = new BranchPen(house)
          return () => branch.append(randomBytes(bodyBytes))
        }))
      },
      'raw driver': async () => {
        figures.get('raw driver')!.push(await rate(() => {
          const branchId = randomUUID()
          return (seq) => raw.write(branchId, seq, randomBytes(bodyBytes))
        }))
      },
    })
  }
  return figures
}

/** The second one finds a warmer machine, so each side is second every other time. */
async function inTurn(turn: number, works: Record<Side, () => Promise<void>>): Promise<void> {
  const order = Object.values(works)
  for (const work of turn % 2 === 0 ? order : order.toReversed()) await work()
}

/** Appends rows to a new branch, each with a checkpoint, like the row of a step. */
class BranchPen {
  readonly #house: StoreHouse
  readonly #branch = { id: randomUUID(), ancestors: [] }
  #seq = 0

  constructor(house: StoreHouse) {
    this.#house = house
  }

  append(body: Uint8Array): Promise<void> {
    const seq = this.#seq += 1
    return this.#house.log.append([{
      tenant: 'local',
      branch: this.#branch,
      epoch: 1,
      seq,
      prevEpoch: seq === 1 ? 0 : 1,
      body,
      places: [{ id: randomUUID(), seq, base: 1 }],
    }], [])
  }
}

function sides(): Sides {
  return new Map([['raw driver', []], ['append', []]])
}

async function timed(work: () => Promise<void>): Promise<number> {
  const began = performance.now()
  await work()
  return performance.now() - began
}
