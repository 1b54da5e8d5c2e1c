/** Runs on fresh threads: the time of one, throughput, and time to the first event. */

import { randomUUID } from 'node:crypto'
import { progress } from './progress.ts'
import { quantile } from './statistics.ts'
import type { Target } from './target.ts'

/** One figure of each round, by the name of the target. */
export type Rounds = ReadonlyMap<string, readonly number[]>

interface RoundPlan {
  readonly rounds: number
  /** Runs per target and round. */
  readonly runs: number
}

export interface RunsPlan {
  readonly rounds: number
  /** Runs per target and round: by one client, and by many. */
  readonly alone: number
  readonly together: number
  readonly clients: number
  readonly warmUp: number
}

/** Measures everything about runs on fresh threads. */
export async function measureRuns(targets: readonly Target[], plan: RunsPlan) {
  const { rounds, alone, together, warmUp, clients } = plan
  progress('warming up')
  for (const target of targets) {
    const runs = target.name === 'peer' ? 5 : warmUp
    await runsPerSecond([target], { rounds: 1, runs }, 8)
    await runWaitAlone([target], { rounds: 1, runs: runs / 2 })
  }
  progress('runs, one client')
  const single = await runWaitAlone(targets, { rounds, runs: alone })
  progress(`runs, ${clients} clients`)
  const many = await runsPerSecond(targets, { rounds, runs: together }, clients)
  progress('first events')
  const first = await firstEvent(targets, { rounds, runs: alone })
  return { single, many, first }
}

/** Median milliseconds of a run that one client waits for. */
function runWaitAlone(targets: readonly Target[], { rounds, runs }: RoundPlan) {
  return interleaved(targets, rounds, async (target) => {
    const times: number[] = []
    for (let n = 0; n < runs; n += 1) {
      const began = performance.now()
      await target.wait(randomUUID(), 'hello')
      times.push(performance.now() - began)
    }
    return quantile(times, 0.5)
  })
}

/** Runs per second that `clients` get done, each waiting for its own. */
export function runsPerSecond(targets: readonly Target[], { rounds, runs }: RoundPlan,
  clients: number) {
  return interleaved(targets, rounds, async (target) => {
    let left = runs
    const client = async () => {
      while (left > 0) {
        left -= 1
        await target.wait(randomUUID(), 'hello')
      }
    }
    const began = performance.now()
    await Promise.all(Array.from({ length: clients }, client))
    return runs / ((performance.now() - began) / 1_000)
  })
}

/** Median milliseconds until the first event of a stream has been read. */
function firstEvent(targets: readonly Target[], { rounds, runs }: RoundPlan) {
  return interleaved(targets, rounds, async (target) => {
    const times: number[] = []
    for (let n = 0; n < runs; n += 1) {
      times.push((await target.stream(randomUUID(), 'hello')).firstMs)
    }
    return quantile(times, 0.5)
  })
}

/** In the order A B C, A B C, …, so that disturbances of the machine affect all of them. */
export async function interleaved<T extends Target>(targets: readonly T[], rounds: number,
  measure: (target: T) => Promise<number>): Promise<Rounds> {
  const figures = new Map(targets.map(({ name }) => [name, [] as number[]]))
  for (let round = 0; round < rounds; round += 1) {
    for (const target of targets) {
      target.reset()
      figures.get(target.name)!.push(await measure(target))
    }
  }
  return figures
}
