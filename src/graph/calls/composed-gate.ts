/** Several gates as one. */

import type { Call, CallEnd } from './call.ts'
import type { CallDecision, CallGate, CallWatcher, HeldPart } from './call-gate.ts'

const strength: readonly HeldPart[] = ['nothing', 'end', 'answer']

/**
 * Asks the gates in their order until one does not let the call pass. Those before it watch what
 * the client gets. Of two that set a header, the later one counts.
 */
export function composedGate(gates: readonly CallGate[]): CallGate | undefined {
  if (gates.length < 2) return gates[0]
  return { decide: (call) => decideFrom(call, gates, { headers: {}, watchers: [] }) }
}

interface Passed {
  readonly headers: Readonly<Record<string, string | null>>
  readonly watchers: readonly CallWatcher[]
}

/** Stays synchronous as long as the gates do. */
function decideFrom(call: Call, [gate, ...later]: readonly CallGate[], passed: Passed):
  | CallDecision
  | Promise<CallDecision> {
  if (gate === undefined) {
    return { kind: 'pass', headers: passed.headers, ...watcherOf(passed.watchers) }
  }
  const decision = gate.decide(call)
  const proceed = (made: CallDecision) => {
    const watchers = 'watcher' in made && made.watcher
      ? [...passed.watchers, made.watcher]
      : passed.watchers
    if (made.kind === 'answer') return { ...made, ...watcherOf(watchers) }
    if (made.kind === 'hold') return made
    if (made.kind === 'fail') return failedFor(watchers, made)
    return decideFrom(call, later, { headers: { ...passed.headers, ...made.headers }, watchers })
  }
  return decision instanceof Promise ? decision.then(proceed) : proceed(decision)
}

/** Tells those that let the call pass that it failed. */
async function failedFor(watchers: readonly CallWatcher[],
  failure: CallDecision & { readonly kind: 'fail' }): Promise<CallDecision> {
  const { watcher } = watcherOf(watchers)
  await watcher?.ended?.({ kind: 'failed', error: failure.error, mayHaveLeft: false })
  return failure
}

function watcherOf(watchers: readonly CallWatcher[]): { readonly watcher?: CallWatcher } {
  return watchers.length < 2
    ? { ...watchers[0] && { watcher: watchers[0] } }
    : { watcher: composedWatcher(watchers) }
}

/** The later watcher ends first, as it stands nearer to the wire. */
function composedWatcher(watchers: readonly CallWatcher[]): CallWatcher {
  const holds = strength[
    Math.max(...watchers.map((each) =>
      strength.indexOf(each.holds
        ?? 'nothing')
    ))
  ]!
  return {
    holds,
    sent: toEach(watchers, 'sent'),
    head: toEach(watchers, 'head'),
    chunk: toEach(watchers, 'chunk'),
    ended: async (end) => {
      let seen: CallEnd = end
      for (const watcher of watchers.toReversed()) {
        const ended = async () => watcher.ended?.(seen)
        await ended().catch((error: unknown) => {
          seen = { kind: 'failed', error: error instanceof Error ? error : new Error(String(error)),
            mayHaveLeft: true }
        })
      }
      if (seen !== end && seen.kind === 'failed') throw seen.error
    },
  }
}

function toEach<Part extends 'sent' | 'head' | 'chunk'>(watchers: readonly CallWatcher[],
  part: Part): NonNullable<CallWatcher[Part]> {
  return (value: never) => {
    for (const watcher of watchers) {
      try {
        watcher[part]?.(value)
      } catch {
        // The others see it nevertheless.
      }
    }
  }
}
