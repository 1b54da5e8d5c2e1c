/** A graph host that runs no graph: a test decides what an execution does, step by step. */

import { HeddleError } from '../../src/errors.ts'
import type { CheckpointSource, Execution, ExecutionListener, GraphDescription, GraphHost, JsonText,
  LoggedLines, LossReason, ExecutionOutcome, PauseReason, Step,
  StepEvent } from '../../src/graph/index.ts'

/** An execution that a test drives. */
export interface Scripted {
  readonly execution: Execution
  readonly source: CheckpointSource
  readonly listener: ExecutionListener
  /** The checkpoint that the next step grows from. */
  headId: string | null
}

const graph: GraphDescription = {
  graphId: 'agent',
  description: null,
  stateChannels: ['log'],
  plain: true,
  nodes: [],
}
const graphs = [graph]

/** A graph host whose executions a test ends. */
export class ScriptedHost implements GraphHost {
  readonly running = new Map<number, Scripted>()
  /** Executions that were asked to stop at their next superstep. */
  readonly paused = new Set<number>()
  /** Executions that were asked to stop for messages. */
  readonly asked = new Set<number>()
  /** All executions ever started. */
  readonly executions: Execution[] = []
  /** Shared by all hosts, so that an id is never used twice, not even after a restart. */
  static #checkpoints = 0

  graphs(): readonly GraphDescription[] {
    return graphs
  }
  describe(graphId: string): GraphDescription | undefined {
    return graphId === 'agent' ? graph : undefined
  }

  execute(execution: Execution, source: CheckpointSource, listener: ExecutionListener): void {
    if (execution.stops) return this.executeStopped(execution, source, listener)
    this.executions.push(execution)
    this.running.set(execution.id, { execution, source, listener, headId: execution.headId })
  }

  pause(executionId: number, why?: PauseReason): void {
    if (why === 'messages') this.asked.add(executionId)
    else this.paused.add(executionId)
  }

  abort(executionId: number): void {
    this.running.delete(executionId)
  }

  /** A test may replace it, to complete steps before the execution ends. */
  stop: GraphHost['stop'] = (executionId) => {
    const scripted = this.running.get(executionId)
    if (scripted) this.end(scripted, { status: 'aborted' })
  }

  /** An execution that only adds its input. A test may replace it. */
  executeStopped: GraphHost['execute'] = (_execution, _source, listener) =>
    listener.ended({ status: 'aborted', waiting: false, interrupts: '{}', error: null })

  logs(): LoggedLines {
    return { lines: [], dropped: 0, truncated: false }
  }

  /** The only execution in progress. */
  get only(): Scripted {
    const [scripted, second] = this.running.values()
    if (!scripted || second) throw new Error(`${this.running.size} executions are under way`)
    return scripted
  }

  /**
   * One superstep that puts `text` first in the log: its writes, its checkpoint, its events, which
   * may name the checkpoint.
   */
  step(scripted: Scripted, text: string,
    events: readonly StepEvent[] | ((checkpointId: string) => readonly StepEvent[]) = []
  ): Promise<void> {
    const id = `c${String(++ScriptedHost.#checkpoints).padStart(8, '0')}`
    const inserted = { json: JSON.stringify(text), form: 0 } as const
    const change = scripted.headId === null
      ? { $case: 'list' as const, value: { elements: [inserted] } }
      : { $case: 'splice' as const, value: { at: 0, remove: 0, insert: [inserted] } }
    const step: Step = { $case: 'checkpoint', value: {
      ns: '',
      id,
      parentId: scripted.headId ?? '',
      full: scripted.headId === null,
      changes: [{ channel: 'log', change }],
      skeletonJson: '{}',
      metadataJson: '{}',
      runId: '',
      atMs: 0,
    } }
    const writes: Step[] = scripted.headId === null ? [] : [{ $case: 'writes', value: {
      ns: '',
      checkpointId: scripted.headId,
      taskId: 'task',
      writes: [],
    } }]
    scripted.headId = id
    return scripted.listener.steps({ steps: [...writes, step],
      events: typeof events === 'function' ? events(id) : events })
  }

  /** A task of the newest checkpoint raises an interrupt with this id. */
  interrupt({ headId, listener }: Scripted, taskId: string, id: string): Promise<void> {
    const value = { json: JSON.stringify([{ id, value: '?' }]), form: 0,
      serialized: undefined } as const
    return listener.steps({ events: [],
      steps: [{ $case: 'writes',
        value: { ns: '', checkpointId: headId!, taskId,
          writes: [{ index: -3, channel: '__interrupt__', value }] } }] })
  }

  end(scripted: Scripted, outcome: Partial<ExecutionOutcome> = {}): void {
    this.running.delete(scripted.execution.id)
    scripted.listener.ended({
      status: 'success',
      waiting: false,
      interrupts: '{}',
      error: null,
      ...outcome,
    })
  }

  lose(scripted: Scripted, reason: LossReason): void {
    this.running.delete(scripted.execution.id)
    scripted.listener.lost(reason)
  }

  /** A test may replace it with an answer of its own. */
  ask: GraphHost['ask'] = () => Promise.reject(new HeddleError('unsupported'))
  schemas(): Promise<never> {
    return Promise.reject(new HeddleError('unsupported'))
  }
  subgraphSchemas(): Promise<never> {
    return Promise.reject(new HeddleError('unsupported'))
  }
  drawable(): Promise<never> {
    return Promise.reject(new HeddleError('unsupported'))
  }
}

/** What an execution makes for followers of its thread at the checkpoint that it has put. */
export function threadMark(checkpointId: string): StepEvent {
  const json = JSON.stringify({ id: checkpointId, step: 0, source: 'loop' })
  return { name: 'thread:checkpoint', json, valuesOf: checkpointId, durable: true }
}

/** What an execution makes for them beside that. */
export function threadToken(text: string): StepEvent {
  return { name: 'thread:messages|model', json: JSON.stringify({ text }), valuesOf: '',
    durable: false }
}

/** An event of a superstep. */
export function updates(json: JsonText): StepEvent {
  return { name: 'updates', json, valuesOf: '', durable: true }
}
