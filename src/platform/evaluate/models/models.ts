/** Calls models at the endpoints of customers, only through the one way out. */

import { HeddleError } from '../../../errors.ts'
import type { Egress } from '../../../egress/index.ts'
import { anthropicDialect } from './anthropic.ts'
import { answerOf, joined, objectIn } from './dialect.ts'
import type { AnswerPart, Dialect } from './dialect.ts'
import { eventsIn } from './event-text.ts'
import { brokenError, refusedError, unansweredError } from './model-error.ts'
import type { ModelAnswer, ModelCall, ModelEndpoint, ModelPiece, Models } from './model.ts'
import { openaiDialect } from './openai.ts'
import { Redaction } from './redaction.ts'

/** The way out for calls of models, and the source of their secrets. */
export interface ModelsOptions {
  readonly egress: Pick<Egress, 'check' | 'send' | 'open'>
  /** The value of a secret of a workspace. Throws `invalid` if there is none. */
  readonly reveal: (tenant: string, name: string) => Promise<string>
}

/** Time of one call. */
const callMs = 120_000
/** Bytes of a streamed answer. */
const streamBytesMax = 4 * 1024 * 1024
/** Bytes of an answer that comes whole: it is parsed at once, which holds up others. */
const answerBytesMax = 1024 * 1024
/** Bytes of an answer that is an error. */
const errorBytesMax = 64 * 1024

const dialects: Readonly<Record<ModelEndpoint['dialect'], Dialect>> = {
  openai: openaiDialect,
  anthropic: anthropicDialect,
}

/** Models that can be looked at before they are called. */
export interface CheckedModels extends Models {
  /** Throws `invalid` if the call cannot be made, without calling. */
  requireCallable(tenant: string, call: ModelCall): Promise<void>
}

/** The models that a server calls. */
export function modelsOver({ egress, reveal }: ModelsOptions): CheckedModels {
  return {
    requireCallable: async (tenant, call) => {
      await prepared(tenant, call, { reveal, egress }, true)
    },
    ask: async (tenant, call, signal) => {
      const { dialect, request, redaction } = await prepared(tenant, call, { reveal, egress },
        false)
      const outcome = await egress.send({ ...request, tries: 1, answerBytesMax }, signal)
      if (outcome.kind !== 'answered') throw withoutSecret(unansweredError(outcome), redaction)
      const { status, cut, retryAfterMs = 0 } = outcome
      const body = redaction.text(outcome.body)
      if (!isSuccess(status)) {
        throw withoutSecret(refusedError({ status, body, retryAfterMs }), redaction)
      }
      if (cut) throw brokenError(`it is longer than ${answerBytesMax} bytes`)
      try {
        const { text = '', ...said } = dialect.answer(objectIn(body), call)
        return withoutSecretCalls(answerOf({ ...said, text: redaction.text(text) }, call),
          redaction)
      } catch (error) {
        throw withoutSecret(error, redaction)
      }
    },
    stream: (tenant, call, signal) => pieces(tenant, call, signal, { reveal, egress }),
  }
}

async function* pieces(tenant: string, call: ModelCall, signal: AbortSignal,
  { reveal, egress }: ModelsOptions): AsyncIterable<ModelPiece> {
  const { dialect, request, redaction } = await prepared(tenant, call, { reveal, egress }, true)
  const opened = await egress.open({ ...request, answerBytesMax: streamBytesMax }, signal)
  if (opened.kind !== 'opened') throw withoutSecret(unansweredError(opened), redaction)
  const { status, retryAfterMs } = opened
  try {
    if (!isSuccess(status)) {
      const body = redaction.text(await beginningOf(opened.body))
      throw refusedError({ status, body, retryAfterMs })
    }
    let whole: AnswerPart = {}
    for await (const data of eventsIn(opened.body)) {
      const { text: raw, ...said } = dialect.event(redaction.text(data), call)
      const text = raw === undefined ? '' : redaction.piece(raw)
      whole = joined(whole, { ...said, ...raw !== undefined && { text } })
      if (text !== '') yield { text }
    }
    const text = redaction.rest()
    if (text !== '') yield { text }
    yield { end: withoutSecretCalls(ended(joined(whole, { text }), call), redaction) }
  } catch (error) {
    signal.throwIfAborted()
    const { code, message } = error as HeddleError
    throw withoutSecret(code === 'model_failed' ? error : brokenError(message), redaction)
  }
}

/** JSON spells one text in many ways, so that its sentences are looked through when it was read. */
function withoutSecret(error: unknown, redaction: Redaction): unknown {
  if (!(error instanceof HeddleError)) return error
  const { code, message, details } = error
  const text = redaction.text(message)
  return text === message ? error : new HeddleError(code, text, details)
}

/** Arguments of tools come in pieces, too short each to find a secret in. */
function withoutSecretCalls(answer: ModelAnswer, redaction: Redaction): ModelAnswer {
  if (answer.toolCalls === undefined) return answer
  const text = redaction.text(JSON.stringify(answer.toolCalls))
  return { ...answer, toolCalls: JSON.parse(text) as ModelAnswer['toolCalls'] & object }
}

function ended(whole: AnswerPart, call: ModelCall): ModelAnswer {
  if (whole.whole !== true && (whole.text ?? '') === '') {
    throw new HeddleError('model_failed', 'The answer of the model is empty.')
  }
  return answerOf(whole, call)
}

interface Prepared {
  readonly dialect: Dialect
  readonly request: { readonly tenant: string; readonly method: 'POST'; readonly url: string;
    readonly headers: Readonly<Record<string, string>>; readonly answerMs: number;
    body(): Promise<string> }
  readonly redaction: Redaction
}

async function prepared(tenant: string, call: ModelCall, { reveal, egress }: ModelsOptions,
  streamed: boolean): Promise<Prepared> {
  const { endpoint: { dialect: name, url: base }, messages } = call
  if (messages.length === 0)
    throw new HeddleError('invalid', 'A model is asked by one message at least.')
  if (call.tools && call.schema) {
    throw new HeddleError('invalid', 'A model is asked for tools or for an answer by a schema, ' +
      'and not for both.')
  }
  requireUrl(base, egress)
  const key = await keyOf(tenant, call, reveal)
  const dialect = dialects[name]
  const { url, headers, body } = dialect.request(call, key, streamed)
  return { dialect, redaction: new Redaction(key),
    request: { tenant, method: 'POST', url, headers, answerMs: callMs, body: async () => body } }
}

function requireUrl(url: string, egress: Pick<Egress, 'check'>): void {
  try {
    egress.check(url)
  } catch (error) {
    throw new HeddleError('invalid', `The URL of the model ${HeddleError.from(error).message}.`)
  }
}

async function keyOf(tenant: string, { endpoint: { secret }, secrets = {} }: ModelCall,
  reveal: ModelsOptions['reveal']): Promise<string | null> {
  if (secret === null) return null
  const key = Object.hasOwn(secrets, secret) ? secrets[secret]! : await reveal(tenant, secret)
  if (/^[\x21-\x7e]+$/.test(key)) return key
  throw new HeddleError('invalid', `The secret ${secret} cannot be sent: it has characters that ` +
    'no header may have.')
}

async function beginningOf(body: AsyncIterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of body) {
    chunks.push(chunk)
    bytes += chunk.length
    if (bytes > errorBytesMax) break
  }
  return Buffer.concat(chunks).subarray(0, errorBytesMax).toString()
}

function isSuccess(status: number): boolean {
  return status >= 200 && status < 300
}
