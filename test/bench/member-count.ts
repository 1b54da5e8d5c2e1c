/** Runs per second of one member, and of several on the same machine. */

import { within } from './patience.ts'
import { progress } from './progress.ts'
import { figure } from './report.ts'
import type { Line } from './report.ts'
import { Served } from './served.ts'
import { ratios, spreadOf } from './statistics.ts'
import type { StreamTimes, Target } from './target.ts'
import { runsPerSecond } from './throughput.ts'

export interface MemberCountPlan {
  readonly rounds: number
  /** Runs per side and round. */
  readonly runs: number
  readonly warmUp: number
  readonly clients: number
}

const answerMs = 60_000

export async function memberCountLines(single: string, several: readonly string[],
  { rounds, runs, warmUp, clients }: MemberCountPlan): Promise<Line[]> {
  const one = new AllDoors('1 member', [single])
  const many = new AllDoors(`${several.length} members`, several)
  try {
    progress('runs with one member and with several')
    await runsPerSecond([one, many], { rounds: 1, runs: warmUp }, clients)
    const sides = await runsPerSecond([one, many], { rounds, runs }, clients)
    return [{
      measure: `runs per second, ${clients} clients, ${many.name} over one, same machine`,
      unit: 'times',
      figures: [figure(sides, one.name, '/s'), figure(sides, many.name, '/s')],
      ratio: spreadOf(ratios(sides.get(many.name)!, sides.get(one.name)!)),
    }]
  } finally {
    one.close()
    many.close()
  }
}

/** One request through each front door in turn, as a balancer does. */
class AllDoors implements Target {
  readonly name: string
  readonly #doors: readonly Served[]
  #turn = 0

  constructor(name: string, urls: readonly string[]) {
    this.name = name
    this.#doors = urls.map((url) => new Served(url, url))
  }

  wait(threadId: string, text: string): Promise<void> {
    return within(answerMs, `a run with ${this.name}`, this.#next().wait(threadId, text))
  }

  stream(threadId: string, text: string): Promise<StreamTimes> {
    return within(answerMs, `a stream with ${this.name}`, this.#next().stream(threadId, text))
  }

  reset(): void {}

  close(): void {
    for (const door of this.#doors) door.close()
  }

  #next(): Served {
    return this.#doors[this.#turn++ % this.#doors.length]!
  }
}
