/** An answer of a model as it comes in. Pure but for the call. */

import type { ModelQuestion } from '../../api/index.ts'
import { addressFor } from '../api/address.ts'
import type { Json, JsonObject } from '../api/client.ts'
import { follow } from '../api/event-stream.ts'

/** A call of a tool that a model wants. */
export interface ToolCall {
  readonly name: string
  readonly args: Json
}

/** State of an answer, and its parts so far. */
export interface Answer {
  readonly state: 'running' | 'done' | 'failed' | 'stopped'
  readonly text: string
  /** Why it failed, in the server's words. */
  readonly error: string | null
  /** Tools that the model wants called. */
  readonly toolCalls: readonly ToolCall[]
  readonly tokens: number | null
  readonly latencyMs: number | null
  /** Id of its span; null until the server has begun. */
  readonly runId: string | null
}

/** An answer, and the variables that were asked about. */
export interface ShownAnswer extends Answer {
  readonly variables: JsonObject
}

/** One that has just begun. */
export const begun: Answer = { state: 'running', text: '', error: null, toolCalls: [], tokens: null,
  latencyMs: null, runId: null }

/** Asks, and says each time what there is by now. Never throws. */
export async function askModel(body: ModelQuestion, signal: AbortSignal,
  say: (answer: Answer) => void): Promise<void> {
  let answer = begun
  const set = (part: Partial<Answer>) => say(answer = { ...answer, ...part })
  try {
    const path = addressFor('POST /api/v1/playground/stream', { body })
    const events = follow({ path, method: 'POST', body, signal })
    for await (const { event, text } of events) set(partOf(event, text, answer))
    if (answer.state === 'running') set({ state: 'failed', error: 'The answer was cut off.' })
  } catch (error) {
    if (signal.aborted) set({ state: 'stopped' })
    else set(failed(error))
  }
}

/** One that could not be asked for, or that broke off. */
export const failed = (error: unknown) => ({ state: 'failed' as const,
  error: error instanceof Error ? error.message : String(error) })

/** Parts of an answer that an event changes. */
function partOf(event: string, json: string, { text }: Answer): Partial<Answer> {
  const data = JSON.parse(json) as { text?: string; detail?: string; latency_ms?: number;
    tool_calls?: readonly ToolCall[]; run_id?: string; usage?: { total_tokens: number } | null }
  switch (event) {
    case 'start':
      return { runId: data.run_id ?? null }
    case 'text':
      return { text: text + (data.text ?? '') }
    case 'end':
      return { state: 'done', toolCalls: data.tool_calls ?? [], text: data.text ?? text,
        latencyMs: data.latency_ms ?? null, tokens: data.usage?.total_tokens ?? null }
    case 'error':
      return { state: 'failed', error: data.detail ?? 'The model failed.' }
    default:
      return {}
  }
}
