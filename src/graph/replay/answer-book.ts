/** The recorded calls of a run, from which a replay takes its answers. */

import type { RecordedCall, RecordedSite } from '../recording/recording.ts'
import type { CallIdentity } from './call-identity.ts'
import type { RequestToCompare } from './compared-request.ts'

/** A recorded call with the identity of its request. */
export interface BookedCall {
  readonly call: RecordedCall
  readonly identity: CallIdentity
}

/** A request of the code that is replayed. */
export interface AskedCall {
  readonly site: Pick<RecordedSite, 'step' | 'nodes' | 'path'> | null
  readonly identity: CallIdentity
}

/** An answer that fits, or the recorded call that stood in its place; without one it is new. */
export type Match =
  | { readonly kind: 'same'; readonly found: BookedCall }
  | { readonly kind: 'moved'; readonly found: BookedCall }
  | { readonly kind: 'none'; readonly near: BookedCall | undefined }

/** Gives each recorded call once. Equal requests of one place are answered in their order. */
export class AnswerBook {
  readonly #unused: BookedCall[]

  private constructor(calls: readonly BookedCall[]) {
    this.#unused = [...calls]
  }

  /**
   * Opens the book of these calls. `identify` redacts their requests again, because an earlier
   * version or another revision recorded them.
   */
  static async of(calls: readonly RecordedCall[],
    identify: (call: RequestToCompare) => Promise<CallIdentity>): Promise<AnswerBook> {
    const booked: BookedCall[] = []
    for (const call of calls) {
      const { method, url, request: { chunks } } = call
      booked.push({ call, identity: await identify({ method, url, headers: [], chunks }) })
    }
    return new AnswerBook(booked)
  }

  /** Recorded calls that nothing has asked for. */
  get unused(): readonly BookedCall[] {
    return this.#unused
  }

  /** Takes the first that fits: exact at its place, masked there, masked at another place. */
  take({ site, identity }: AskedCall): Match {
    const place = placeOf(site)
    const isHere = ({ call }: BookedCall) => placeOf(call.site) === place
    const isAlike = (each: BookedCall) => each.identity.masked === identity.masked
    const here = this.#take((each) => isHere(each) && each.identity.exact === identity.exact)
      ?? this.#take((each) => isHere(each) && isAlike(each))
    if (here) return { kind: 'same', found: here }
    const elsewhere = this.#take(isAlike)
    if (elsewhere) return { kind: 'moved', found: elsewhere }
    return { kind: 'none', near: this.#near(isHere, identity) }
  }

  #take(fits: (each: BookedCall) => boolean): BookedCall | undefined {
    const at = this.#unused.findIndex(fits)
    return at < 0 ? undefined : this.#unused.splice(at, 1)[0]
  }

  #near(isHere: (each: BookedCall) => boolean, asked: CallIdentity): BookedCall | undefined {
    const there = this.#unused.filter(isHere)
    return there.find(({ identity: { method, url } }) =>
      method === asked.method && pathOf(url) === pathOf(asked.url)
    ) ?? there[0]
  }
}

function placeOf(site: AskedCall['site']): string {
  return site === null ? '' : JSON.stringify([site.step, site.nodes, site.path])
}

function pathOf(url: string): string {
  return url.split('?')[0]!
}
