/** The payload of a run of this server, from what its thread knows of it. */

import { isObject } from '../../../json/index.ts'
import type { Payload } from '../../spans/payload.ts'
import type { SpanHead } from '../../spans/span.ts'
import type { OwnRunTexts } from './own-run-calls.ts'

/** The payload of the root of a run's trace. */
export function ownPayload({ id, thread }: Pick<SpanHead, 'id' | 'thread'>,
  { kwargs, metadata, error, outputs }: OwnRunTexts): Payload {
  const { input, command } = objectIn(kwargs)
  return {
    inputs: jsonBytes(inputsOf(input, command)),
    extra: jsonBytes({ metadata: { ...objectIn(metadata), thread_id: thread, run_id: id } }),
    ...outputs !== null && { outputs: jsonBytes(asObject('output', JSON.parse(outputs))) },
    ...error !== null && { error: jsonBytes(errorLine(objectIn(error))) },
  }
}

/**
 * Inputs or outputs as an object, as both APIs need them. Any other value becomes a member `name`.
 */
export function asObject(name: string, value: unknown): Readonly<Record<string, unknown>> {
  return isObject(value) ? value : { [name]: value }
}

/** The JSON of a value in UTF-8. */
export function jsonBytes(value: unknown): Buffer {
  return Buffer.from(JSON.stringify(value ?? null))
}

/** Error of a thread in one line, such as `TypeError: x`. */
export function errorLine(
  { error, name = error, message }: Readonly<Record<string, unknown>>,
): string {
  return [name, message].filter((text) => typeof text === 'string' && text !== '').join(': ')
}

function inputsOf(input: unknown, command: unknown): Readonly<Record<string, unknown>> {
  if (input !== undefined && input !== null) return asObject('input', input)
  return isObject(command) ? { command } : {}
}

function objectIn(json: string | null): Readonly<Record<string, unknown>> {
  const value: unknown = JSON.parse(json ?? '{}')
  return isObject(value) ? value : {}
}
