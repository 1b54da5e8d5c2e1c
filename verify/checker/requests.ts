/** What requests of all protocols ask for: the task of a run, its answer, and refusals. */

import type { Call } from '../history/history.ts'

/** A task or an answer that a request sends. */
export interface Sent {
  readonly token: string
  /**
   * Action of the task; `answer` for the answer to an interrupt; `input` for a task that answers
   * an interrupt if one is open.
   */
  readonly action: string
  readonly strategy: string
  /** The question that an answer answers: the token of the task that asks. */
  readonly question?: string
  readonly assistantId?: string
  readonly webhook?: string
}

interface RunBody {
  readonly assistant_id?: string
  readonly webhook?: string
  readonly input?: { readonly task: { readonly token: string; readonly action: string } }
  readonly command?: { readonly resume: Readonly<Record<string, string>> }
  readonly response?: string
  readonly multitask_strategy?: string
  readonly metadata?: { readonly question?: string }
}

/** What a request that starts a run sends; undefined for other requests. */
export function readSent(call: Call): Sent | undefined {
  const { operation, body } = call
  if (/^run\.(wait|create|stream|resume|repeat|delay)$/.test(operation)) {
    return readRun(body as RunBody, operation)
  }
  if (/^v2\.(start|socket|respond|fork)$/.test(operation)) {
    return readRun((body as { params: RunBody }).params, operation)
  }
  return /^a2a\.(send|stream|repeat|answer)$/.test(operation) ? readMessage(call) : undefined
}

/** A message of A2A. Its text has the token, the action and the duration of its task. */
function readMessage({ operation, path, body }: Call): Sent {
  const { message, metadata } = (body as { params: MessageParams }).params
  const [token = '', action = 'plain'] = message.parts[0].text.split('/')
  const shared = { token, strategy: 'enqueue', assistantId: path.split('/').at(-1) }
  return operation === 'a2a.answer'
    ? { ...shared, action: 'answer', question: metadata?.question }
    : { ...shared, action }
}

interface MessageParams {
  readonly message: { readonly parts: readonly [{ readonly text: string }] }
  readonly metadata?: { readonly question?: string }
}

function readRun(body: RunBody, operation: string): Sent {
  const { input, command, response, multitask_strategy: strategy = '', metadata } = body
  const shared = { strategy, assistantId: body.assistant_id, webhook: body.webhook }
  const mayAnswer = /^v2\.(start|socket)$/.test(operation)
  if (input) {
    const { token, action } = input.task
    return { ...shared, token, action: mayAnswer ? 'input' : action }
  }
  const [token = response ?? ''] = Object.values(command?.resume ?? {})
  return { ...shared, token, action: 'answer', question: metadata?.question }
}

/** Paths whose responses have refusals in an envelope, with the status 200. */
const enveloped = /\/(commands|stream\/events|a2a\/[^/]+|mcp)$/
/** The code of JSON-RPC for an error that the server did not expect. */
const internalCode = -32_603

/**
 * The call with the status of the envelope: 422 or 409 for a refusal, 500 if the server failed.
 * Protocol v2 has the code `unknown_error` for a deployment that is paused.
 */
export function withOutcome(call: Call): Call {
  if (call.status !== 200 || !enveloped.test(call.path)) return call
  const { type, error } = (call.response ?? {}) as Envelope
  if (typeof error === 'object') {
    return { ...call, status: error.code === internalCode ? 500 : 422 }
  }
  if (type !== 'error') return call
  return { ...call, status: error === 'unknown_error' ? 409 : 422 }
}

/** A response of protocol v2, or one of JSON-RPC. */
interface Envelope {
  readonly type?: string
  readonly error?: string | { readonly code: number }
}
