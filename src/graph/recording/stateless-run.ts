/**
 * A stateless run as its recording keeps it, for its thread goes: how it began, and how it ended.
 * Secrets are stars of their length in it, as in recorded bodies.
 */

import { isObject, isOneOf, memberOf, valueIn } from '../../json/index.ts'
import type { Execution, ExecutionOutcome, JsonText, RunRequest } from '../execution.ts'
import { isSecretName } from '../logs/secret-values.ts'
import type { HideSecrets } from './hidden-bytes.ts'
import { recordingMax } from './recording-room.ts'
import { labelStatuses, labelText } from './run-label.ts'
import type { LabelStatus } from './run-label.ts'

/** End of a run, as its execution reports it. */
export interface RunEnding {
  readonly outcome: ExecutionOutcome
  /** JSON of the state values at its end; undefined if they are not known. */
  readonly values: () => JsonText | undefined
}

/** A stateless run that ended by itself. */
export interface StatelessRun {
  /** The revision that executed it; empty for none. */
  readonly revision: string
  readonly request: RunRequest
  readonly status: LabelStatus
  readonly error: ExecutionOutcome['error']
  /** JSON of the state values at its end; null if they are not known. */
  readonly values: JsonText | null
}

/** True for a run that begins without a state, on a thread of its own with the id of the run. */
export function isStateless({ threadId, runId, headId }: Execution): boolean {
  return threadId === runId && headId === null
}

/** The label of a run; undefined if it has not ended by itself. */
export function labelOf({ runId, graphId, revision = '' }: Execution,
  { outcome: { status } }: RunEnding): string | undefined {
  return isOneOf(labelStatuses, status)
    ? labelText({ runId, graphId, revision, status })
    : undefined
}

/**
 * The run as bytes; undefined if it is an edit, larger than a recording may be, or no JSON without
 * its secrets.
 */
export function packedRun({ request, revision = '' }: Execution, { outcome, values }: RunEnding,
  hide: HideSecrets): Uint8Array | undefined {
  const { status, error } = outcome
  if (request.kind !== 'run' || !isOneOf(labelStatuses, status)) return undefined
  const end = values() ?? null
  const { input, command, config, context } = request
  const sizes = [input, command, config, context, end].map((text) => text?.length ?? 0)
  if (sizes.reduce((sum, size) => sum + size, 0) > recordingMax.runBytes) return undefined
  try {
    // Events of an earlier attempt are not part of the request.
    const run: StatelessRun = { revision, status,
      request: { ...request, emitted: [], input: withoutSecrets(input, hide),
        command: command && withoutSecrets(command, hide),
        config: withoutSecrets(withoutKeys(config), hide),
        context: context && withoutSecrets(withoutKeys(context), hide) },
      values: end && withoutSecrets(end, hide),
      error: error && { error: error.error, message: hidden(error.message, hide) } }
    return Buffer.from(JSON.stringify(run))
  } catch {
    // What was hidden was more than a value.
    return undefined
  }
}

/** The run in such bytes; undefined if they have none, as user code could have written them. */
export function statelessRunIn(bytes: Uint8Array): StatelessRun | undefined {
  try {
    const run = valueIn(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString())
    return isStatelessRun(run) ? run : undefined
  } catch {
    return undefined
  }
}

function isStatelessRun(run: unknown): run is StatelessRun {
  if (!isObject(run)) return false
  const { revision, request, status, error, values } = run
  return isText(revision) && isOneOf(labelStatuses, status) && isRequest(request)
    && (values === null || isText(values))
    && (error === null || (isText(memberOf(error, 'error')) && isText(memberOf(error, 'message'))))
}

function isRequest(request: unknown): boolean {
  if (!isObject(request)) return false
  const { kind, input, command, config, context, streamModes, emitted } = request
  return kind === 'run' && isText(input) && isText(config) && Array.isArray(streamModes)
    && streamModes.every(isText) && Array.isArray(emitted)
    && [command, context].every((text) => text === null || isText(text))
}

function isText(value: unknown): value is string {
  return typeof value === 'string'
}

/** JSON with secrets hidden, before it becomes a text in other JSON. Throws if it is none then. */
function withoutSecrets(json: JsonText, hide: HideSecrets): JsonText {
  const text = hidden(json, hide)
  if (text !== json) JSON.parse(text)
  return text
}

/** The hider reads bytes as one character each. */
function hidden(text: string, hide: HideSecrets): string {
  return Buffer.from(hide(Buffer.from(text).toString('latin1')), 'latin1').toString()
}

/** Headers of the caller are in the configuration, and keys among them. */
function withoutKeys(text: JsonText): JsonText {
  return JSON.stringify(
    JSON.parse(text,
      (name, value: unknown) =>
        typeof value === 'string' && isKey(name) ? '*'.repeat(value.length) : value),
  )
}

/** True for the name of a key. Names that a login gives to what it says are the server's own. */
function isKey(name: string): boolean {
  return isSecretName(name) && !name.startsWith('langgraph_auth_')
}
