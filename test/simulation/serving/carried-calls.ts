/** The calls of a followed actor on their way to another member: in order, until the way breaks. */

import type { Member as Name } from '../../../cluster/index.ts'
import type { Process } from '../process.ts'
import type { Ways } from '../ways.ts'
import type { MemberEntrance } from './member-transport.ts'

/** How often a follower checks whether the actor's member is still there. */
const lookMs = 300

export interface CarriedCallsOptions {
  /** The process of the follower. */
  readonly process: Process
  readonly ways: Ways<MemberEntrance>
  readonly to: Name
  notify(call: Uint8Array): void
  lost(): void
}

export interface CarriedCalls {
  /** Sends a call of the actor. */
  send(call: Uint8Array, last: boolean): void
  /** The follow has begun. Returns the function that ends it. */
  begin(stop: () => void): () => void
  /** The follow has not begun: no call arrives any more. */
  end(): void
}

/** Carries the calls. After `lost` or the last call, none arrives. */
export function carryCalls(options: CarriedCallsOptions): CarriedCalls {
  const { process, ways, to, notify, lost } = options
  const { world } = process
  let state: 'open' | 'ended' = 'open'
  let arrivesMs = 0
  let cancelLook = () => {}
  const end = () => {
    state = 'ended'
    cancelLook()
  }
  const breakOff = () => {
    if (state === 'ended') return
    end()
    lost()
  }
  // Calls that arrive while the process is stopped are received in their order.
  const received: (() => void)[] = []
  const receive = (each: () => void) => {
    received.push(each)
    process.after(0, () => received.shift()?.())
  }
  const send = (call: Uint8Array, last: boolean) => {
    if (state === 'ended') return
    const ms = ways.tripMs(process, to)
    if (ms === undefined) return void world.wakeAfter(lookMs, () => receive(breakOff))
    arrivesMs = Math.max(arrivesMs, world.nowMs + ms)
    world.wakeAfter(arrivesMs - world.nowMs, () =>
      receive(() => {
        if (state === 'ended') return
        if (last) end()
        notify(call)
      }))
  }
  const look = () => {
    if (state === 'ended') return
    ways.call(process, to, () => Promise.resolve()).then(() => {
      cancelLook = process.after(lookMs, look)
    }, breakOff)
  }
  return {
    send,
    end,
    begin: (stop) => {
      look()
      return () => {
        if (state === 'ended') return
        end()
        stop()
      }
    },
  }
}
