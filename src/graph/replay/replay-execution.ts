/** Executes one replay in a graph process, and keeps in memory what becomes of it. */

import type { Env } from '../../../cluster/index.ts'
import { HeddleError } from '../../errors.ts'
import { isObject, memberOf, objectIn, valueIn } from '../../json/index.ts'
import type { CheckpointSource, Execution, ExecutionOutcome, GraphHost, Step,
  StepEvent } from '../execution.ts'
import { maskedText } from './call-identity.ts'
import { reportIn } from './replay-report.ts'
import type { ReplayReport } from './replay-report.ts'

/** Writes of a node, with ids and times masked. */
export interface ReplayedTask {
  /** The node, behind the nodes around it: `research/ask`. */
  readonly node: string
  /** JSON of the value of each channel; one member `value` for a write that is no object. */
  readonly writes: Readonly<Record<string, string>>
}

/**
 * ended  the graph ended, or failed, or waits for a person
 * late   it took longer than it may: its process has to be ended
 * lost   its process died
 */
export type ReplayEnd = 'ended' | 'late' | 'lost'

/** One replay of a run. */
export interface ReplayedRun {
  readonly end: ReplayEnd
  /** Undefined unless it ended. */
  readonly outcome: ExecutionOutcome | undefined
  readonly report: ReplayReport
  /**
   * Number of its first superstep with tasks, as its thread counts; undefined if it has ended none.
   */
  readonly firstStep: number | undefined
  /** The tasks of each superstep. */
  readonly steps: readonly (readonly ReplayedTask[])[]
  /** JSON of the state values after the last superstep; undefined for none. */
  readonly values: string | undefined
  readonly ms: number
}

/** One replay to execute. */
export interface ReplayWork {
  readonly execution: Execution
  readonly source: CheckpointSource
  readonly limitMs: number
  /** Ends the wait for it. */
  readonly signal: AbortSignal
}

const nothing: ReplayReport = { answered: 0, moved: [], missing: [], recordedTokens: [], tokens: [],
  stop: null }
/** Name under which updates have the questions of nodes. */
const interrupts = '__interrupt__'
/** Stream modes from which the steps are read. */
const readModes = ['updates', 'values'] as const

/** Characters that all steps of a run may write. */
const stepsMax = 32 * 1024 * 1024

/**
 * Resolves when it has ended or its time is over. Rejects if `signal`
 * aborts, and with `graph_failed` for a run that cannot be compared.
 */
export function executeReplay(host: Pick<GraphHost, 'execute'>,
  { execution, source, limitMs, signal }: ReplayWork,
  env: Pick<Env, 'after' | 'monotonicMs'>): Promise<ReplayedRun> {
  const { promise, resolve, reject } = Promise.withResolvers<ReplayedRun>()
  const fromMs = env.monotonicMs()
  const steps = new StepFold()
  const settle = () => {
    stopTimer()
    signal.removeEventListener('abort', aborted)
  }
  const fail = (error: unknown) => {
    settle()
    reject(error as Error)
  }
  const end = (how: ReplayEnd, outcome?: ExecutionOutcome) => {
    const report = outcome?.replay === undefined ? nothing : reportIn(outcome.replay)
    if (report === undefined) {
      fail(unreadable())
      return
    }
    settle()
    resolve({ end: how, outcome, report, firstStep: steps.first, steps: steps.steps,
      values: steps.values, ms: env.monotonicMs() - fromMs })
  }
  const aborted = () => fail(signal.reason)
  const stopTimer = env.after(limitMs, () => end('late'))
  signal.addEventListener('abort', aborted, { once: true })
  host.execute(withModes(execution), source, {
    steps: async ({ steps: written, events, texts = [] }) => {
      let at = 0
      try {
        for (const step of written) steps.note(step)
        for (const event of events) {
          const text = event.json === '' && event.valuesOf === '' ? texts[at++] ?? '' : event.json
          steps.take(event, text)
        }
      } catch (error) {
        fail(error instanceof HeddleError ? error : unreadable())
      }
    },
    ended: (outcome) => end('ended', outcome),
    lost: () => end('lost'),
  })
  return promise
}

/**
 * Its own modes stay: some change how models are called. Each step is written, as it says its
 * number.
 */
function withModes(execution: Execution): Execution {
  const { request } = execution
  if (request.kind === 'edit') return execution
  return { ...execution,
    request: { ...request, streamSubgraphs: true, emitted: [],
      durability: request.durability === 'exit' ? 'async' : request.durability,
      streamModes: [...new Set([...request.streamModes, ...readModes])] } }
}

/** User code could have replaced what makes texts. */
function unreadable(): HeddleError {
  return new HeddleError('graph_failed', 'Its report cannot be read: its code may have changed '
    + 'parts of JavaScript.')
}

/** The steps that events tell of. */
class StepFold {
  first: number | undefined
  readonly steps: ReplayedTask[][] = []
  #open: ReplayedTask[] = []
  #size = 0
  values: string | undefined

  /** The first checkpoint says where it begins: an input and its begin are steps of their own. */
  note({ $case, value }: Step): void {
    if (this.first !== undefined || $case !== 'checkpoint' || value.ns !== '') return
    const { step, source } = objectIn(value.metadataJson)
    if (typeof step === 'number') this.first = source === 'input' ? step + 2 : step
  }

  take({ name }: Pick<StepEvent, 'name'>, text: string): void {
    const [mode, ...namespace] = name.split('|')
    if (text === '') return
    if (mode === 'updates') {
      this.#size += text.length
      if (this.#size > stepsMax) {
        throw new HeddleError('graph_failed', 'Its steps write more than a replay can compare.')
      }
      this.#tasks(namespace.map((part) => part.split(':')[0]!), text)
    }
    if (mode !== 'values' || namespace.length > 0) return
    this.values = text
    if (this.#open.length === 0) return
    this.steps.push(this.#open.toSorted((a, b) => a.node < b.node ? -1 : 1))
    this.#open = []
  }

  #tasks(around: readonly string[], text: string): void {
    const updates = valueIn(text)
    if (!isObject(updates)) return
    for (const [node, update] of Object.entries(updates)) {
      const written = node === interrupts ? withoutIds(update) : update
      const writes = isObject(written) ? written : { value: written }
      this.#open.push({ node: [...around, node].join('/'), writes: Object.fromEntries(
        Object.entries(writes).map((
          [channel, value],
        ) => [channel, maskedText(JSON.stringify(value) ?? 'null')]),
      ) })
    }
  }
}

/** The ids of questions come from those of checkpoints, which differ each time. */
function withoutIds(questions: unknown): unknown {
  return Array.isArray(questions) ? questions.map((each) => memberOf(each, 'value')) : questions
}
