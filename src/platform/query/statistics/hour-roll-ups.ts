/** The roll-ups of a project's hours: read from the store, or made and stored. */

import { FairSemaphore } from '../../../../cluster/index.ts'
import type { Env } from '../../../../cluster/index.ts'
import type { Hour, RollUpPort } from '../../spans/roll-up-port.ts'
import { everySpan } from '../../spans/span-port.ts'
import type { Plan, SpanPort } from '../../spans/span-port.ts'
import type { SpanHead, Uuid } from '../../spans/span.ts'
import type { Deadline } from './deadline.ts'
import { readRollUp, writeRollUp } from './roll-up-bytes.ts'
import { RollUp } from './roll-up.ts'
import type { KeptRollUp } from './roll-up.ts'

/** Microseconds of an hour, the length of a roll-up. */
export const hourUs = 3_600_000_000

/** Hours whose roll-ups are read at once, and hours between two turns of other work. */
const [readAtOnce, turnOf] = [200, 20]

/** Projects that are rolled up at a time, each by one question: others wait for what it makes. */
const making = { inAll: 8, each: 1, waiting: 1_024,
  full: 'Too many questions about statistics are waiting: ask again in a moment.' }

/** The hours of a project that a question asks for. */
export interface HoursAsked {
  readonly tenant: string
  readonly project: Uuid
  readonly from: Hour
  /** The hour after the last one. */
  readonly to: Hour
}

/** The roll-ups of one store. */
export class HourRollUps {
  readonly #store: RollUpPort & Pick<SpanPort, 'scan'>
  readonly #env: Pick<Env, 'nowMs'>
  readonly #making = new FairSemaphore(making)

  constructor(store: RollUpPort & Pick<SpanPort, 'scan'>, env: Pick<Env, 'nowMs'>) {
    this.#store = store
    this.#env = env
  }

  /** The hours in which the project has spans, in any order. */
  async *of(asked: HoursAsked,
    deadline: Deadline): AsyncGenerator<readonly [Hour, KeptRollUp], void, void> {
    const { tenant, project, from, to } = asked
    const hours = (await this.#store.hours(tenant, project, from, to)).toSorted((a, b) => a - b)
    for (let at = 0; at < hours.length; at += readAtOnce) {
      const some = hours.slice(at, at + readAtOnce)
      const missing: Hour[] = []
      yield* this.#kept(asked, some, missing, deadline)
      if (missing.length === 0) continue
      const leave = await deadline.waiting(
        this.#making.enter(`${tenant} ${project}`, deadline.signal),
      )
      try {
        const left: Hour[] = []
        yield* this.#kept(asked, missing, left, deadline)
        for (const stretch of stretches(some, left)) yield* this.#made(asked, stretch, deadline)
      } finally {
        leave()
      }
    }
  }

  /** Those that the store has. The others become `missing`. */
  async *#kept({ tenant, project }: HoursAsked, hours: readonly Hour[], missing: Hour[],
    deadline: Deadline): AsyncGenerator<readonly [Hour, KeptRollUp], void, void> {
    const kept = await this.#store.rollUps(tenant, project, hours[0]!, hours.at(-1)! + 1)
    for (const [index, hour] of hours.entries()) {
      const bytes = kept.get(hour)
      const rollUp = bytes === undefined ? undefined : readRollUp(bytes)
      if (rollUp === undefined) missing.push(hour)
      else yield [hour, rollUp]
      if (index % turnOf === turnOf - 1) await deadline.turn()
    }
  }

  /** Rolls up hours between which there are no others with spans, and keeps those that ended. */
  async *#made({ tenant, project }: HoursAsked, hours: readonly Hour[],
    deadline: Deadline): AsyncGenerator<readonly [Hour, KeptRollUp], void, void> {
    const beganUs = this.#env.nowMs() * 1_000
    const keep = async (hour: Hour, rollUp: RollUp) => {
      // The running hour would change at once.
      if ((hour + 1) * hourUs > beganUs) return
      await this.#store.putRollUp(tenant, project, hour, writeRollUp(rollUp), beganUs)
    }
    const [fromUs, toUs] = [hours[0]! * hourUs, (hours.at(-1)! + 1) * hourUs]
    let open: readonly [Hour, RollUp] | undefined
    for await (const heads of startsIn(this.#store, { tenant, project, fromUs, toUs }, deadline)) {
      for (const head of heads) {
        const hour = Math.floor(head.startUs / hourUs)
        if (open?.[0] !== hour) {
          if (open !== undefined) {
            await keep(...open)
            yield open
          }
          open = [hour, new RollUp()]
        }
        open[1].add(head)
      }
    }
    if (open === undefined) return
    await keep(...open)
    yield open
  }
}

/** Starts of a project from … to before …. */
export interface StartsAsked {
  readonly tenant: string
  readonly project: Uuid
  readonly fromUs: number
  readonly toUs: number
}

/** The spans with these starts, the oldest first. */
export async function* startsIn(store: Pick<SpanPort, 'scan'>,
  { tenant, project, fromUs, toUs }: StartsAsked,
  deadline: Deadline): AsyncGenerator<readonly SpanHead[], void, void> {
  if (fromUs >= toUs) return
  const plan: Plan = { tenant, projects: [project], fromUs, toUs, order: 'oldest', ...everySpan }
  for await (const { heads } of store.scan(plan)) {
    await deadline.turn()
    yield heads.filter(({ startUs }) => startUs >= fromUs && startUs < toUs)
  }
}

/** Wanted hours, together where no other hour is between them. */
function* stretches(all: readonly Hour[], wanted: readonly Hour[]): Iterable<readonly Hour[]> {
  const isWanted = new Set(wanted)
  let stretch: Hour[] = []
  for (const hour of all) {
    if (isWanted.has(hour)) {
      stretch.push(hour)
      continue
    }
    if (stretch.length > 0) yield stretch
    stretch = []
  }
  if (stretch.length > 0) yield stretch
}
