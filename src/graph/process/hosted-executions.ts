/** The executions of a graph process, inside of it: what the server gave, and what they ask. */

import type { TraceBody } from '../engine/step-traces.ts'
import type { CheckpointSource, ExecutionListener, GraphHost, StoredTuple } from '../execution.ts'
import type { ItemOperation, ItemResult } from '../../items/index.ts'
import type { TakeLines } from '../pool/execution-scheduler.ts'
import { unwrap } from '../pool/worker-mail.ts'
import type { Reading, Result } from '../pool/worker-mail.ts'
import type { FromProcess, ReadFor, ToProcess } from './process-mail.ts'

/** Answer of the server for a batch that is not in the log and never will be. */
const notStored = { error: { code: 'unavailable', message: 'It was not stored.' } } as const

/** Passes executions from the server to the host, and what they do back to the server. */
export class HostedExecutions {
  readonly #send: (mail: FromProcess) => void
  /** Callers that wait for an answer of the server, by the number of its message. */
  readonly #waiting = new Map<number, (result: Result<unknown>) => void>()
  #host: Pick<GraphHost, 'execute' | 'pause' | 'abort' | 'stop'> | undefined
  #last = 0

  constructor(send: (mail: FromProcess) => void) {
    this.#send = send
  }

  /** From now on this host executes what is received. */
  open(host: Pick<GraphHost, 'execute' | 'pause' | 'abort' | 'stop'>): void {
    this.#host = host
  }

  /** Takes the lines of runs. */
  readonly lines: TakeLines = {
    add: ({ id }, { lines, dropped }) => this.#send({ type: 'wrote', id, lines, dropped }),
  }

  receive(
    mail: ToProcess & {
      type: 'execute' | 'pause' | 'abort' | 'stop' | 'landed' | 'stored' | 'remembered' | 'traced'
    },
  ): void {
    switch (mail.type) {
      case 'execute': {
        const { id } = mail.execution
        const source = this.sourceFor({ kind: 'execution', id })
        return this.#host?.execute(mail.execution, source, this.#listener(id))
      }
      case 'pause':
        return this.#host?.pause(mail.id, mail.why)
      case 'abort':
        return this.#host?.abort(mail.id)
      case 'stop':
        return this.#host?.stop(mail.id)
      case 'landed':
        return this.#settle(mail.step, mail.isStored ? { value: null } : notStored)
      case 'stored':
        return this.#settle(mail.reading, mail.result)
      case 'remembered':
        return this.#settle(mail.asking, mail.result)
      case 'traced':
        return this.#settle(mail.tracing, mail.result)
    }
  }

  /** The checkpoints of an execution's thread, or of the one that a question is about. */
  readonly sourceFor = (of: ReadFor): CheckpointSource => {
    const read = (what: Reading) =>
      this.#answered<StoredTuple[]>((reading) => ({ type: 'read', of, reading, what }))
    return {
      tuple: async (ns, checkpointId) => (await read({ kind: 'tuple', ns, checkpointId }))[0],
      list: (query) => read({ kind: 'list', query }),
    }
  }

  /** The results of operations on items. */
  batch(tenant: string, operations: readonly ItemOperation[]): Promise<ItemResult[]> {
    return this.#answered((asking) => ({ type: 'items', asking, tenant, operations }))
  }

  async trace(body: TraceBody): Promise<void> {
    await this.#answered((tracing) => ({ type: 'trace', tracing, body }))
  }

  #listener(id: number): ExecutionListener {
    return {
      steps: async (batch) => {
        await this.#answered((step) => ({ type: 'steps', id, step, batch }))
      },
      ended: (outcome) => this.#send({ type: 'ended', id, outcome }),
      lost: (reason) => this.#send({ type: 'lost', id, reason }),
    }
  }

  #answered<T>(mail: (number: number) => FromProcess): Promise<T> {
    const number = ++this.#last
    const { promise, resolve, reject } = Promise.withResolvers<T>()
    this.#waiting.set(number, (result) => {
      try {
        resolve(unwrap(result as Result<T>, 'unavailable'))
      } catch (error) {
        reject(error)
      }
    })
    this.#send(mail(number))
    return promise
  }

  #settle(number: number, result: Result<unknown>): void {
    const settle = this.#waiting.get(number)
    this.#waiting.delete(number)
    settle?.(result)
  }
}
