/** Links between members: messages take time, get lost, or arrive twice. */

import type { Member as Name } from '../../cluster/index.ts'
import { HeddleError } from '../../src/errors.ts'
import { linkOf } from './network.ts'
import type { Network } from './network.ts'
import type { Process } from './process.ts'

/** The process at the far end of a link. */
interface End<Reached> {
  readonly process: Process
  readonly reached: Reached
}

/** How often a caller checks whether its link still holds. */
const lookMs = 200
/** A link that is silent for this long is given up. */
const silenceMs = 600

export class Ways<Reached> {
  readonly #network: Network
  readonly #ends = new Map<string, End<Reached>>()

  constructor(network: Network) {
    this.#network = network
  }

  attach(id: string, end: End<Reached>): void {
    this.#ends.set(id, end)
  }

  /**
   * Throws what `work` throws in the other process; `unavailable` with `unreachable` in its details
   * if the call did not get there, and an error with `ambiguous` if that is unknown.
   */
  call<Answer>(from: Process, to: Name,
    work: (reached: Reached) => Promise<Answer>): Promise<Answer> {
    const { world } = this.#network
    const { chance } = world
    const end = this.#ends.get(to.id)
    return new Promise((resolve, reject) => {
      let silentMs = 0
      const look = () => {
        const moves = end?.process.state === 'running' && this.#reaches(from, to.id)
        silentMs = moves ? 0 : silentMs + lookMs
        if (end?.process.state === 'ended' || silentMs >= silenceMs) reject(broken(to))
        else cancel = from.after(lookMs, look)
      }
      let cancel = from.after(lookMs, look)
      const settle = (how: () => void) => {
        cancel()
        how()
      }
      const back = (how: () => void) => {
        const backMs = this.#fate(from, to.id)
        if (backMs !== undefined) world.after(backMs, () => from.after(0, () => settle(how)))
        else world.after(chance.between(1, silenceMs),
            () => from.after(0, () => settle(() => reject(broken(to)))))
      }
      let refused = false
      const arrive = () => {
        // A connection does not redeliver after a refusal: the sender itself asks again.
        if (refused) return
        if (end === undefined || end.process.state === 'ended') {
          return back(() => reject(unreachable(to)))
        }
        end.process.after(0, () =>
          void work(end.reached).then(
            (answer) => back(() => resolve(answer)),
            (error) => {
              refused = true
              back(() => reject(error))
            },
          ))
      }
      // It leaves the process after a moment, and the process may be stopped before that.
      from.after(chance.between(0, 0.2), () => {
        const thereMs = this.#fate(from, to.id)
        if (thereMs !== undefined) world.after(thereMs, arrive)
        if (thereMs === undefined) back(() => reject(broken(to)))
        // A message that was given up may still arrive, and one that arrived may arrive again.
        const strays = thereMs === undefined
          ? this.#reaches(from, to.id) && chance.flip(0.5)
          : chance.flip(this.#network.weather.loss / 2)
        if (strays) world.after(chance.between(1, 1_500), arrive)
      })
    })
  }

  /** Milliseconds that one message takes on the link; undefined if it is lost. */
  tripMs(from: Process, to: Name): number | undefined {
    const end = this.#ends.get(to.id)
    return end === undefined || end.process.state === 'ended' ? undefined : this.#fate(from, to.id)
  }

  #reaches(from: Process, to: string): boolean {
    const end = this.#ends.get(to)
    return end === undefined || !this.#network.cut.has(linkOf(from.name, end.process.name))
  }

  #fate(from: Process, to: string): number | undefined {
    return this.#reaches(from, to) ? this.#network.fate() : undefined
  }
}

function unreachable({ address }: Name): HeddleError {
  return new HeddleError('unavailable', `Nobody answers at ${address}.`, { unreachable: 'refused' })
}

function broken({ address }: Name): HeddleError {
  return new HeddleError('internal', `The way to ${address} broke.`, { ambiguous: true })
}
