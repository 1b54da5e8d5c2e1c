/** Edits a thread's state outside a run: the graph's own updateState, all of it or nothing. */

import type { AppliedCommand } from '../../../proto/gen/storage/v1/row.ts'
import type { JsonText, RecordOf } from '../../checkpoint/index.ts'
import { HeddleError } from '../../errors.ts'
import type { CheckpointSelector, EditUpdate, Execution, LossReason, ExecutionOutcome,
  Step } from '../../graph/index.ts'
import type { ThreadContext } from '../context/thread-context.ts'
import { executionSource } from '../log/execution-source.ts'
import { sharedConfigurable } from '../model/run-request.ts'
import { executionListener, stepRecords } from './execution-listener.ts'

export interface Edit {
  readonly graphId: string
  readonly supersteps: readonly (readonly EditUpdate[])[]
  readonly checkpoint: CheckpointSelector | null
  /** Written before the edit in the same row: the creation of a thread with a first state. */
  readonly before: readonly RecordOf[]
  /** Written after it in the same row: marks the command as done. */
  readonly note: readonly RecordOf[]
}

interface Editing {
  readonly id: number
  readonly edit: Edit
  readonly steps: Step[]
  readonly stopLimit: () => void
  readonly result: PromiseWithResolvers<JsonText>
}

/** One edit at a time; while there is one, no run starts. */
export class StateEditor {
  readonly #context: ThreadContext
  readonly #hold: (held: boolean) => void
  readonly #waiting: { edit: Edit; result: PromiseWithResolvers<JsonText> }[] = []
  #editing: Editing | undefined

  constructor(context: ThreadContext, hold: (held: boolean) => void) {
    this.#context = context
    this.#hold = hold
  }

  get busy(): boolean {
    return this.#editing !== undefined
  }

  /** Resolves with the API's answer when the edit is on disk. */
  edit(edit: Edit): Promise<JsonText> {
    const { ports: { limits: { pendingEdits } }, inputs } = this.#context
    if (this.#waiting.length >= pendingEdits) {
      throw new HeddleError('full', 'Too many state updates wait on this thread; try again.')
    }
    inputs.requireLeft(this)
    const result = Promise.withResolvers<JsonText>()
    this.#waiting.push({ edit, result })
    if (this.#editing) this.#holdInputs()
    else this.#next()
    return result.promise
  }

  /** The answer to an edit that was done before. */
  async answered(selector: CheckpointSelector | null, applied: AppliedCommand): Promise<JsonText> {
    const { threadLog, threadId } = this.#context
    const records = await threadLog.recordsAt(applied.seq)
    const end = records.findIndex((record) =>
      record.$case === 'commandApplied' && record.value.commandId === applied.id
    )
    return answer({ threadId, selector, id: newest(records.slice(0, end)) ?? null })
  }

  /** Undefined if the execution is not the edit under way. */
  steps(executionId: number, steps: readonly Step[]): { appended: Promise<void> } | undefined {
    if (this.#editing?.id !== executionId) return undefined
    for (const step of steps) this.#editing.steps.push(step)
    return { appended: Promise.resolve() }
  }

  /** Undefined if the turn need not wait. */
  ended(executionId: number, outcome: ExecutionOutcome): Promise<void> | undefined {
    const editing = this.#editing
    if (editing?.id !== executionId) return undefined
    if (outcome.status === 'success') return this.#finish(editing, outcome)
    const message = outcome.error?.message ?? 'The state update was cut short; try again.'
    const code = outcome.error ? 'graph_failed' : 'unavailable'
    editing.result.reject(new HeddleError(code, message))
    this.#next()
    return undefined
  }

  lost(executionId: number, reason: LossReason): void {
    if (this.#editing?.id !== executionId) return
    this.#editing.result.reject(reason === 'full'
      ? new HeddleError('graph_failed', 'The update filled the memory of its worker.')
      : new HeddleError('unavailable',
        'The worker was lost while it updated the state; nothing was changed.'))
    this.#next()
  }

  timeLimit(executionId: number): void {
    if (this.#editing?.id !== executionId) return
    this.#context.ports.host.abort(executionId)
    this.#editing.result.reject(
      new HeddleError('graph_failed',
        'The graph took too long to update the state; nothing was changed.'),
    )
    this.#next()
  }

  /** The thread goes away. */
  release(reason: HeddleError): void {
    if (this.#editing) {
      this.#context.ports.host.abort(this.#editing.id)
      this.#editing.stopLimit()
      this.#editing.result.reject(reason)
    }
    for (const { result } of this.#waiting.splice(0)) result.reject(reason)
    this.#editing = undefined
    this.#holdInputs()
  }

  #holdInputs(): void {
    const edits = this.#waiting.map(({ edit }) => edit)
    if (this.#editing) edits.push(this.#editing.edit)
    this.#context.inputs.hold(this, edits.reduce((sum, edit) => sum + lengthOf(edit), 0))
  }

  #next(): void {
    this.#editing?.stopLimit()
    this.#editing = undefined
    const next = this.#waiting.shift()
    this.#hold(next !== undefined)
    if (next) this.#begin(next.edit, next.result)
    this.#holdInputs()
  }

  #begin(edit: Edit, result: PromiseWithResolvers<JsonText>): void {
    const { ports: { host, env, limits, nextExecutionId }, threadLog, notify } = this.#context
    const id = nextExecutionId()
    const stopLimit = env.after(limits.editMs,
      () => notify({ type: 'time_limit', executionId: id }))
    this.#editing = { id, edit, steps: [], stopLimit, result }
    const listener = executionListener(id, this.#context)
    host.execute(this.#execution(id, edit), executionSource(threadLog), listener)
  }

  #execution(id: number, { graphId, supersteps, checkpoint }: Edit): Execution {
    const { threadLog, tenant, threadId } = this.#context
    const { row } = threadLog.state
    const { assistant_id: assistantId } = JSON.parse(row.metadataJson) as { assistant_id?: unknown }
    const ids = { thread_id: threadId, graph_id: graphId,
      ...assistantId !== undefined && { assistant_id: assistantId } }
    // Factories and edges see the configuration of the thread's latest run.
    const configurable = { ...sharedConfigurable(row), ...ids }
    const config = JSON.stringify({ configurable, metadata: ids })
    return {
      id,
      tenant,
      threadId,
      graphId,
      runId: '',
      attempt: 1,
      headId: row.head?.id ?? null,
      request: { kind: 'edit', config, checkpoint, supersteps },
    }
  }

  /** The turn waits for it: another run or edit would forget the places that are looked up. */
  async #finish(editing: Editing, outcome: ExecutionOutcome): Promise<void> {
    const { threadLog } = this.#context
    try {
      await threadLog.ready(editing.steps)
      if (this.#editing === editing) this.#write(editing, outcome)
    } catch (error) {
      editing.result.reject(error)
    }
    if (this.#editing === editing) this.#next()
  }

  #write({ edit, steps, result }: Editing, { waiting, interrupts }: ExecutionOutcome): void {
    const { threadLog, ports: { env }, threadId } = this.#context
    const atMs = env.nowMs()
    const records = stepRecords(steps, '', atMs)
    // A thread that is created with a state is idle, whatever is left to do (specification §3.3).
    const edited = { atMs, waiting: waiting && edit.before.length === 0,
      interruptsJson: interrupts }
    const durable = threadLog.write([
      ...edit.before,
      ...records,
      { $case: 'stateEdited', value: edited },
      ...edit.note,
    ])
    threadLog.forgetExecution()
    const place = { threadId, selector: edit.checkpoint,
      id: newest(steps) ?? threadLog.state.row.head?.id ?? null }
    result.resolve(durable.then(() => answer(place)))
  }
}

function lengthOf({ supersteps }: Edit): number {
  return supersteps.flat().reduce(
    (sum, { values, command }) => sum + values.length + (command?.length ?? 0),
    0,
  )
}

function newest(records: readonly RecordOf[]): string | undefined {
  const last = records.findLast((record) => record.$case === 'checkpoint')
  return last?.$case === 'checkpoint' ? last.value.id : undefined
}

interface EditedPlace {
  readonly threadId: string
  readonly selector: CheckpointSelector | null
  readonly id: string | null
}

function answer({ threadId, selector, id }: EditedPlace): JsonText {
  const checkpoint = { thread_id: threadId, checkpoint_ns: selector?.checkpointNs ?? '',
    checkpoint_id: id }
  return JSON.stringify({ checkpoint, configurable: checkpoint, checkpoint_id: id })
}
