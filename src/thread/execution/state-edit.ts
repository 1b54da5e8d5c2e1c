/** An edit of a thread's state outside a run: the graph's own updateState, all or nothing. */

import type { JsonText } from '../../checkpoint/index.ts'
import type { HeddleError } from '../../errors.ts'
import type { Execution, GraphHost, Step, StepBatch } from '../../graph/index.ts'
import { objectIn } from '../../json/index.ts'
import type { ThreadContext } from '../context/thread-context.ts'
import { hostOfRun, presentHost, presentRevisionOf } from '../context/thread-graphs.ts'
import type { Edit } from '../decide/state-edit.ts'
import { executionSource } from '../log/execution-source.ts'
import { sharedConfigurable } from '../model/run-request.ts'
import { executionListener } from './execution-reports.ts'
import type { Appended } from './run-output.ts'

/** An edit, and the promise of the response to its caller. */
export interface RequestedEdit {
  readonly edit: Edit
  readonly result: PromiseWithResolvers<JsonText>
}

/** An edit in a worker. While there is one, no run starts. */
export class StateEdit {
  readonly kind = 'edit'
  readonly id: number
  readonly edit: Edit
  readonly result: PromiseWithResolvers<JsonText>
  /** Undefined for the server's own project. */
  readonly revision: string | undefined
  /** Steps that the worker has reported. They are written together. */
  readonly reported: Step[] = []
  readonly #context: ThreadContext
  readonly #host: GraphHost
  #stopLimit: (() => void) | undefined

  constructor(context: ThreadContext, { edit, result }: RequestedEdit) {
    this.id = context.ports.nextExecutionId()
    this.edit = edit
    this.result = result
    this.#context = context
    const { run } = edit.taker ?? {}
    this.#host = run ? hostOfRun(context, run) : presentHost(context)
    this.revision = run ? run.revision : presentRevisionOf(context)
  }

  /** The runs that own it: the taker and its messages. Empty for the edit of a client. */
  get owners(): readonly string[] {
    const { taker } = this.edit
    return taker ? [taker.run, ...taker.taken].map(({ runId }) => runId) : []
  }

  /** Hands it to the graph host. */
  begin(): void {
    const { ports: { env, limits }, threadLog, notify } = this.#context
    this.#stopLimit = env.after(limits.editMs,
      () => notify({ type: 'time_limit', executionId: this.id }))
    this.#host.execute(this.#execution(), executionSource(threadLog),
      executionListener(this.id, this.#context))
  }

  steps({ steps }: StepBatch): Appended {
    for (const step of steps) this.reported.push(step)
    return { appended: Promise.resolve() }
  }

  /** Ends it without waiting for user code. */
  abort(reason: HeddleError): void {
    this.#host.abort(this.id)
    this.result.reject(reason)
  }

  /** Expects nothing more. */
  close(): void {
    this.#stopLimit?.()
  }

  #execution(): Execution {
    const { threadLog, tenant, threadId } = this.#context
    const { graphId, supersteps, checkpoint, taker } = this.edit
    const { row } = threadLog.state
    const { assistant_id: assistantId } = objectIn(row.metadataJson)
    const ids = { thread_id: threadId, graph_id: graphId,
      ...assistantId !== undefined && { assistant_id: assistantId } }
    // Factories and edges see the configuration of the thread's latest run.
    const configurable = { ...sharedConfigurable(row), ...ids }
    const config = JSON.stringify({ configurable, metadata: ids })
    return {
      id: this.id,
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
}

/** Characters of the input of an edit. */
export function lengthOf({ supersteps }: Edit): number {
  return supersteps.flat().reduce(
    (sum, { values, command }) => sum + values.length + (command?.length ?? 0),
    0,
  )
}
