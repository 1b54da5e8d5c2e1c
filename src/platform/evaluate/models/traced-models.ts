/** Calls of models that leave a span behind: those of the playground and of experiments. */

import { FairSemaphore } from '../../../../cluster/index.ts'
import type { Env } from '../../../../cluster/index.ts'
import { HeddleError } from '../../../errors.ts'
import type { Uuid } from '../../spans/span.ts'
import { enterTurn } from '../../calls/in-turn.ts'
import type { Calls } from '../../calls/calls.ts'
import { spanBody } from './call-span.ts'
import type { EndedCall } from './call-span.ts'
import type { ModelAnswer, ModelCall } from './model.ts'
import type { ModelQuota } from './model-quota.ts'
import type { CheckedModels } from './models.ts'
import type { SpanWrites } from '../../ingest/ingest-call.ts'

/** A call, and what its span says beside it. */
export interface TracedCall extends Pick<EndedCall, 'project' | 'example' | 'metadata'> {
  readonly tenant: string
  readonly call: ModelCall
  /** True: it waits for its turn if others are in progress. */
  readonly waits?: boolean
}

/** Events while a model answers. `end` or `error` comes last, when the span is readable. */
export type TracedEvent =
  | { readonly kind: 'start'; readonly id: Uuid }
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'end'; readonly id: Uuid; readonly answer: ModelAnswer;
    readonly latencyMs: number; readonly firstTextMs: number | null }
  | { readonly kind: 'error'; readonly id: Uuid; readonly error: HeddleError }

/** Calls models and traces each call. */
export interface TracedModels {
  /** Throws `invalid` if no such call can be made, and `over_quota`, without calling. */
  requireCallable(tenant: string, call: Omit<ModelCall, 'messages'>): Promise<void>
  /**
   * The events of one call. Throws `invalid` for one that cannot be made, `over_quota` if the day
   * of the tenant is used up, and `full` if it has as many in progress as it may. Ends without its
   * last event if the signal aborts.
   */
  stream(call: TracedCall, signal: AbortSignal): AsyncIterable<TracedEvent>
}

/** Dependencies of traced calls: the models, the ingest thread and the quota. */
export interface TracedModelsOptions {
  readonly models: CheckedModels
  /** Gives the thread that writes spans at the time of a call. */
  readonly ingest: () => Calls<Pick<SpanWrites, 'ingest'>>
  readonly quota: Pick<ModelQuota, 'requireLeft' | 'begin' | 'spend'>
  readonly env: Pick<Env, 'nowMs' | 'uuid7' | 'log'>
}

/** Calls of one tenant in progress at one server. */
const callsEach = 16
/** Such calls that wait for their turn: in progress, and waiting. */
const laterEach = { each: 8, waitingEach: 64 } as const
/** Characters that count as a token where an endpoint says none. */
const tokenCharacters = 4
/** The error of a span whose reader left. */
const leftMessage = 'The reader left.'

/** Calls that leave spans behind. */
export function tracedModels(options: TracedModelsOptions): TracedModels {
  const { models, quota } = options
  const full = 'So many models are asked already: wait for one of them.'
  const turns = new FairSemaphore({ inAll: Infinity, each: callsEach, waiting: Infinity,
    waitingEach: 0, full })
  const laterTurns = new FairSemaphore({ inAll: Infinity, ...laterEach, waiting: Infinity, full })
  return {
    requireCallable: async (tenant, call) => {
      await models.requireCallable(tenant, { ...call, messages: [{ role: 'user', content: '' }] })
      await quota.requireLeft(tenant)
    },
    async *stream(traced, signal) {
      const line = traced.waits === true ? laterTurns : turns
      const leave = await enterTurn(line, traced.tenant, signal)
      try {
        yield* eventsOf(options, traced, signal)
      } finally {
        leave()
      }
    },
  }
}

async function* eventsOf(options: TracedModelsOptions, traced: TracedCall,
  signal: AbortSignal): AsyncIterable<TracedEvent> {
  const { models, quota, env } = options
  const { tenant, call } = traced
  await models.requireCallable(tenant, call)
  await quota.begin(tenant)
  const span = new SpanOfCall(options, traced)
  const { id } = span
  try {
    yield { kind: 'start', id }
    for await (const piece of models.stream(tenant, call, signal)) {
      if ('text' in piece) {
        span.said(piece.text)
        yield { kind: 'text', text: piece.text }
        continue
      }
      yield { kind: 'end', id, answer: piece.end, ...await span.answered(piece.end) }
    }
  } catch (caught) {
    if (span.isOver || signal.aborted) throw caught
    const error = HeddleError.from(caught)
    await span.end({ error: error.message }, env.nowMs())
    yield { kind: 'error', id, error }
  } finally {
    quota.spend(tenant, span.tokens)
    if (!span.isOver) {
      await span.end({ error: leftMessage }, env.nowMs()).catch((error: unknown) =>
        env.log.warn('A call of a model was not traced.', { error })
      )
    }
  }
}

/** The span of a call, while a model answers. */
class SpanOfCall {
  readonly id: Uuid
  /** True once its end was written, or should have been. */
  isOver = false
  readonly #options: Pick<TracedModelsOptions, 'ingest' | 'env'>
  readonly #traced: TracedCall
  readonly #startMs: number
  #firstMs: number | null = null
  #characters: number
  #spent: number | undefined

  constructor(options: Pick<TracedModelsOptions, 'ingest' | 'env'>, traced: TracedCall) {
    this.#options = options
    this.#traced = traced
    this.id = options.env.uuid7()
    this.#startMs = options.env.nowMs()
    this.#characters = traced.call.messages.reduce((all, { content }) => all + content.length, 0)
  }

  /** Tokens of the call: as its endpoint says, or else as its characters are. */
  get tokens(): number {
    return this.#spent ?? Math.ceil(this.#characters / tokenCharacters)
  }

  /** Counts a part of the answer. */
  said(text: string): void {
    this.#firstMs ??= this.#options.env.nowMs()
    this.#characters += text.length
  }

  /** Writes the end of a call that was answered, and says how long it took. */
  async answered(
    answer: ModelAnswer,
  ): Promise<{ readonly latencyMs: number; readonly firstTextMs: number | null }> {
    const { usage } = answer
    if (usage !== null) this.#spent = usage.inputTokens + usage.outputTokens
    const endMs = this.#options.env.nowMs()
    await this.end({ answer }, endMs)
    return { latencyMs: endMs - this.#startMs,
      firstTextMs: this.#firstMs === null ? null : this.#firstMs - this.#startMs }
  }

  /** Writes the end. The span can be read when it resolves. */
  async end(ended: EndedCall['ended'], endMs: number): Promise<void> {
    this.isOver = true
    const { tenant, waits: _, ...of } = this.#traced
    const body = spanBody({ ...of, id: this.id, startMs: this.#startMs, firstTextMs: this.#firstMs,
      endMs, ended })
    await this.#options.ingest().ingest({ tenant, form: 'batch', body, encoding: '',
      contentType: 'application/json' })
  }
}
