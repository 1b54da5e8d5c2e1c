/** Edits a thread's state outside a run: the graph's own updateState, all of it or nothing. */

import type { AppliedCommand } from '../../../proto/gen/storage/v1/row.ts'
import type { JsonText } from '../../checkpoint/index.ts'
import { HeddleError } from '../../errors.ts'
import type { CheckpointSelector, Execution, ExecutionOutcome, GraphHost,
  Step } from '../../graph/index.ts'
import { objectIn } from '../../json/index.ts'
import type { ThreadContext } from '../context/thread-context.ts'
import { hostOfRun, presentHost, presentRevisionOf } from '../context/thread-graphs.ts'
import type { EditOwners } from '../decide/decision.ts'
import { editAnswer, failedEdit, newestCheckpoint } from '../decide/state-edit.ts'
import type { Edit, EditedState } from '../decide/state-edit.ts'
import { executionSource } from '../log/execution-source.ts'
import { sharedConfigurable } from '../model/run-request.ts'
import { executionListener } from '../execution/execution-listener.ts'

interface Editing {
  readonly id: number
  readonly host: GraphHost
  /** Undefined for the server's own project. */
  readonly revision: string | undefined
  readonly edit: Edit
  readonly steps: Step[]
  readonly stopLimit: () => void
  readonly result: PromiseWithResolvers<JsonText>
  readonly failed: () => void
}

type Asked = Pick<Editing, 'edit' | 'result' | 'failed'>

/** One edit at a time; while there is one, no run starts. */
export class StateEditor {
  readonly #context: ThreadContext
  readonly #write: (edited: EditedState) => Promise<void>
  readonly #waiting: Asked[] = []
  #editing: Editing | undefined

  /** `write` makes the result of an edit true; resolves when it is on disk. */
  constructor(context: ThreadContext, write: (edited: EditedState) => Promise<void>) {
    this.#context = context
    this.#write = write
  }

  get busy(): boolean {
    return this.#editing !== undefined
  }

  /** The runs that own the edit under way. Undefined if there is none. */
  get owners(): EditOwners | undefined {
    if (!this.#editing) return undefined
    const { edit: { taker } } = this.#editing
    return taker ? [taker.run, ...taker.taken].map(({ runId }) => runId) : []
  }

  /**
   * Resolves with the API's answer when the edit is on disk. If it cannot be made, `failed` is
   * called before anything else starts.
   */
  edit(edit: Edit, failed = () => {}): Promise<JsonText> {
    const { ports: { limits: { pendingEdits } }, inputs } = this.#context
    if (this.#waiting.length >= pendingEdits) {
      throw new HeddleError('full', 'Too many state updates wait on this thread; try again.')
    }
    inputs.requireLeft(this)
    const result = Promise.withResolvers<JsonText>()
    this.#waiting.push({ edit, result, failed })
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
    const id = newestCheckpoint(records.slice(0, end)) ?? null
    return editAnswer({ threadId, selector, id })
  }

  /** Undefined if the execution is not the edit under way. */
  steps(executionId: number, steps: readonly Step[]): { appended: Promise<void> } | undefined {
    if (this.#editing?.id !== executionId) return undefined
    for (const step of steps) this.#editing.steps.push(step)
    return { appended: Promise.resolve() }
  }

  /** True if the execution is that of the edit under way. */
  has(executionId: number): boolean {
    return this.#editing?.id === executionId
  }

  /**
   * The execution of the edit has ended. Undefined if the turn need not wait. Resolves with false
   * if the thread went away meanwhile: then nothing may start here.
   */
  ended(outcome: ExecutionOutcome): Promise<boolean> | undefined {
    const editing = this.#editing!
    if (outcome.status === 'success') return this.#finish(editing, outcome)
    this.refuse(failedEdit(outcome))
    return undefined
  }

  /** The edit under way cannot be made. */
  refuse(reason: HeddleError): void {
    this.#editing!.failed()
    this.drop(reason)
  }

  /** Ends the edit under way, if any. Its later reports are ignored because of their number. */
  drop(reason: HeddleError): void {
    this.#editing?.host.abort(this.#editing.id)
    this.#editing?.result.reject(reason)
    this.#next()
  }

  /** The thread goes away: refuses all edits. */
  release(reason: HeddleError): void {
    for (const { result } of this.#waiting.splice(0)) result.reject(reason)
    this.drop(reason)
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
    if (next) this.#begin(next)
    this.#holdInputs()
  }

  #begin({ edit, result, failed }: Asked): void {
    const { ports: { env, limits, nextExecutionId }, threadLog, notify } = this.#context
    const { run } = edit.taker ?? {}
    const [host, revision] = run
      ? [hostOfRun(this.#context, run), run.revision]
      : [presentHost(this.#context), presentRevisionOf(this.#context)]
    const id = nextExecutionId()
    const stopLimit = env.after(limits.editMs,
      () => notify({ type: 'time_limit', executionId: id }))
    this.#editing = { id, host, revision, edit, steps: [], stopLimit, result, failed }
    const listener = executionListener(id, this.#context)
    host.execute(this.#execution(id, edit), executionSource(threadLog), listener)
  }

  #execution(id: number, { graphId, supersteps, checkpoint, taker }: Edit): Execution {
    const { threadLog, tenant, threadId } = this.#context
    const { row } = threadLog.state
    const { assistant_id: assistantId } = objectIn(row.metadataJson)
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
      lastExecution: threadLog.newestSteps.execution,
      request: { kind: 'edit', config, checkpoint, supersteps,
        ...taker && { messages: taker.messagesJson } },
    }
  }

  /** The turn waits for it: another run or edit would forget the places that are looked up. */
  async #finish(editing: Editing, outcome: ExecutionOutcome): Promise<boolean> {
    const { threadLog } = this.#context
    try {
      await threadLog.ready(editing.steps)
      if (this.#editing === editing) this.#finished(editing, outcome)
    } catch (error) {
      editing.failed()
      editing.result.reject(error)
    }
    if (this.#editing !== editing) return false
    this.#next()
    return true
  }

  #finished({ id: executionId, edit, steps, revision, result }: Editing,
    outcome: ExecutionOutcome): void {
    const { threadLog, threadId } = this.#context
    const durable = this.#write({ edit, steps, outcome, revision })
    threadLog.newestSteps.ended(executionId)
    const id = newestCheckpoint(steps) ?? threadLog.state.row.head?.id ?? null
    const place = { threadId, selector: edit.checkpoint, id }
    result.resolve(durable.then(() => editAnswer(place)))
  }
}

function lengthOf({ supersteps }: Edit): number {
  return supersteps.flat().reduce(
    (sum, { values, command }) => sum + values.length + (command?.length ?? 0),
    0,
  )
}
