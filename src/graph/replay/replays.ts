/** The replays of a worker: their gates, their clock, and how they are stopped. */

import { subscribe } from 'node:diagnostics_channel'

import { HeddleError } from '../../errors.ts'
import type { OpenGate } from '../calls/call-scope.ts'
import { callScope } from '../calls/call-scope.ts'
import type { AskItems } from '../engine/graph-store.ts'
import type { Execution, ExecutionOutcome } from '../execution.ts'
import { byteHider } from '../recording/hidden-bytes.ts'
import type { Mask } from '../recording/project-mask.ts'
import { ReplayGate } from './replay-gate.ts'
import { openReplayTime } from './replay-time.ts'

const stopped: ExecutionOutcome = { status: 'error', waiting: false, interrupts: '{}',
  error: { error: 'ReplayStopped', message: 'The replay was stopped.' } }

/** Name under which the code of a project finds the function of effects. */
const effectForm = Symbol.for('heddle.effect')

/** Executes one replay at a time. */
export class Replays {
  readonly #time = openReplayTime()
  readonly #gates = new Map<number, ReplayGate>()
  readonly #mask: () => Mask | undefined
  #hide: ((text: string) => string) | undefined

  /** `mask`: the project's own redaction of recordings. */
  constructor(mask: () => Mask | undefined) {
    this.#mask = mask
    subscribe('heddle:stopped-connection', (to) => {
      const gate = callScope()?.gate
      // What no execution has begun is an earlier one's, or the project's as it is loaded.
      if (gate instanceof ReplayGate) gate.stop({ kind: 'connects', to: String(to) })
    })
    Object.assign(globalThis, {
      // Its HTTP calls are answered, and all else is stopped.
      [effectForm]: (_name: string, _input: unknown, work: (made: object) => unknown) =>
        work({ key: `hdl_${'0'.repeat(40)}`, signal: new AbortController().signal }),
    })
  }

  readonly openGate: OpenGate = ({ execution: { id, replay } }) => {
    if (replay === undefined) throw new HeddleError('internal', 'This process only replays.')
    const gate = new ReplayGate(replay,
      (text) => (this.#hide ??= byteHider(process.env, standInNames(process.env)))(text),
      this.#mask())
    this.#gates.set(id, gate)
    return gate
  }

  /** Does the work until it ends or is stopped, and adds the report to its outcome. */
  async during({ id, runId, replay }: Execution,
    work: () => Promise<ExecutionOutcome>): Promise<ExecutionOutcome> {
    const gate = this.#gates.get(id)
    if (gate === undefined || replay === undefined) return await work()
    this.#gates.delete(id)
    this.#time.begin(replay.startedAtMs, runId)
    const outcome = await Promise.race([work(), gate.stopped.then(() => stopped)])
    return { ...outcome, replay: JSON.stringify(await gate.ended()) }
  }

  /** Stops an execution whose code asks for long-term memory. */
  readonly asksItems: AskItems = async (operations) => {
    if (operations.length === 0) return []
    const gate = callScope()?.gate
    if (gate instanceof ReplayGate) gate.stop({ kind: 'items' })
    return await new Promise<never>(() => {})
  }
}

/** Names of the variables that have stars in place of a secret. */
function standInNames(variables: NodeJS.ProcessEnv): readonly string[] {
  return Object.keys(variables).filter((name) => /^\*+$/.test(variables[name] ?? ''))
}
