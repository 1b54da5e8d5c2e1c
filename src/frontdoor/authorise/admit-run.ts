/** Asks whether a caller may make a run, and says for whom the run is then. */

import { IsUuid } from 'typebox/format'

import { hashOf } from '../../access/index.ts'
import type { CreateRun } from '../../api/index.ts'
import { ignoreNotFound } from '../../errors.ts'
import { systemAssistantId } from '../../graph/index.ts'
import type { MetadataFilter } from '../../search/index.ts'
import type { RunCaller } from '../operations/index.ts'
import type { Ask, AskedValue } from './ask.ts'
import type { Asking } from './asking.ts'
import type { AdmitAssistant } from './run-assistant.ts'
import { requireSeen } from './seen.ts'
import { shownBody } from './shown-body.ts'
import { threadNotFound } from './threads.ts'

/** Parts of the body of a run that are asked with. */
type Body = Pick<CreateRun, 'assistant_id' | 'metadata'> & Partial<
  Pick<CreateRun, 'if_not_exists' | 'multitask_strategy' | 'after_seconds'>
>

/** A run that somebody asks for. */
export interface WantedRun<Of extends Body> {
  /** Null for a stateless run. */
  readonly threadId: string | null
  readonly body: Of
  readonly by: RunCaller
  /** True if a thread that is not there yet is asked for by itself. */
  readonly asksForThread?: boolean
}

/** A run that may be made, as the handler left it. */
export type AdmittedRun<Of extends Body> = Pick<WantedRun<Of>, 'body' | 'by'>

/**
 * Asks for a run. Throws what the handler refuses with, and `not_found` for a thread or an
 * assistant that is not seen.
 */
export type AdmitRun = <Of extends Body>(caller: Asking,
  run: WantedRun<Of>) => Promise<AdmittedRun<Of>>

/** Parts with which it is asked: the rows of threads, and ids for runs. */
export interface AdmissionParts {
  readonly ask: Ask
  readonly admitAssistant: AdmitAssistant
  metadataOf(tenant: string, threadId: string): Promise<{ readonly metadataJson: string }>
  newRunId(): string
}

const shown = ['input', 'command', 'config', 'context', 'checkpoint', 'checkpoint_id', 'webhook',
  'interrupt_before', 'interrupt_after', 'stream_mode', 'durability'] as const

/** Makes the function that asks for runs. */
export function runAdmission(
  { ask, admitAssistant, metadataOf, newRunId }: AdmissionParts,
): AdmitRun {
  const requireSeenThread = async (tenant: string, threadId: string, filter?: MetadataFilter) => {
    const row = await metadataOf(tenant, threadId).catch(ignoreNotFound)
    if (row !== undefined) requireSeen(filter, row, () => threadNotFound(threadId))
    return row !== undefined
  }
  return async (caller, { threadId, body, by, asksForThread = false }) => {
    if (caller.login === undefined) return { body, by }
    const { tenant } = caller
    // Without one, its key makes the id: a repeat finds the same run.
    const runId = by.runId ?? (by.commandId === '' ? newRunId() : undefined)
    const { value, filter } = await ask(caller, 'threads:create_run',
      valueOf(body, { threadId, runId: runId ?? null }))
    await admitAssistant(caller, body.assistant_id)
    let { metadata } = value
    if (threadId !== null && (filter !== undefined || asksForThread)) {
      const isThere = await requireSeenThread(tenant, threadId, filter)
      if (!isThere && asksForThread && body.if_not_exists === 'create') {
        const made = await ask(caller, 'threads:create', { thread_id: threadId, metadata,
          if_exists: 'raise' })
        metadata = made.value['metadata']
      }
    }
    if (threadId === null && by.keptMinutes !== undefined) {
      const made = await ask(caller, 'threads:create', { thread_id: runId, metadata,
        if_exists: 'raise' })
      metadata = made.value['metadata']
    }
    return { body: { ...body, metadata: metadata as Body['metadata'] },
      by: { ...by, runId, allowed: filter, user: caller.user, userId: caller.user?.identity,
        commandId: ownKey(caller, by.commandId) } }
  }
}

function valueOf(body: Body,
  { threadId, runId }: { readonly threadId: string | null; readonly runId: string | null }
): AskedValue & { readonly metadata: unknown } {
  const { multitask_strategy, if_not_exists, after_seconds } = body
  return {
    thread_id: threadId,
    assistant_id: assistantIdOf(body.assistant_id),
    run_id: runId,
    status: 'pending',
    metadata: body.metadata ?? {},
    prevent_insert_if_inflight: multitask_strategy === 'reject',
    multitask_strategy: multitask_strategy ?? null,
    if_not_exists: if_not_exists ?? null,
    after_seconds: after_seconds ?? 0,
    kwargs: kwargsOf(body),
  }
}

/** An assistant may be named by a graph id, for the graph's own. */
function assistantIdOf(name: string): string {
  return IsUuid(name) ? name.toLowerCase() : systemAssistantId(name)
}

function kwargsOf(body: Readonly<Record<string, unknown>>): AskedValue {
  return shownBody(Object.fromEntries(shown.map((name) => [name, body[name] ?? undefined])))
}

/** Idempotency-Keys of different callers never name the same run. */
export function ownKey({ user }: Asking, key: string): string {
  return key === '' || user === undefined ? key : `${hashOf(user.identity)} ${key}`
}
