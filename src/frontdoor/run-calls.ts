/** The routes that show the recorded outgoing calls of a run. */

import { isUtf8 } from 'node:buffer'

import { limitConcurrency } from '../../cluster/index.ts'
import { getRunCall, listRunCalls } from '../api/index.ts'
import type { RunCall, RunCallBodies, RunCallBody, RunCalls } from '../api/index.ts'
import { findRecorded } from '../deployment/index.ts'
import type { Serving } from '../deployment/index.ts'
import { HeddleError } from '../errors.ts'
import type { RecordedBody, RecordedCall, RecordedExecution } from '../graph/index.ts'
import { timeText } from '../json/index.ts'
import type { Platform } from '../platform/index.ts'
import { sendJson } from './http/list-reply.ts'
import type { App, RouteParts } from './http/route.ts'
import { serve } from './http/serve.ts'
import { UnpackedRecordings } from './unpacked-recordings.ts'

/** Recordings that are unpacked at a time: each may have 16 MiB. */
const unpackedAtOnce = 2

/** The platform, which keeps the recordings; without one there are none. */
export interface RecordingSource {
  readonly platform?: { readonly query: Pick<Platform['query'], 'recordedBlocks'> } | undefined
  /** Serving of deployments, whose recordings are stored by their ids. */
  readonly serving?: Pick<Serving, 'find'> | undefined
}

/** Adds the routes. Who may read the run may read its calls. */
export function runCallRoutes(app: App,
  { runs, platform, serving }: RouteParts & RecordingSource): void {
  const inTurn = limitConcurrency(unpackedAtOnce)
  const unpacked = new UnpackedRecordings()
  const recorded = async (tenant: string, runId: string) =>
    unpacked.of(`${runId} ${tenant}`,
      await platform?.query.recordedBlocks({ tenant, runId,
        deployment: serving && await findRecorded(serving, tenant) }) ?? [])
  serve(app, listRunCalls,
    async ({ params: { thread_id: threadId, run_id: runId }, caller }, reply) => {
      await runs.get(caller, { threadId, runId })
      return sendJson(reply,
        await inTurn(async () => JSON.stringify(listOf(await recorded(caller.tenant, runId)))))
    })
  serve(app, getRunCall,
    async ({ params: { thread_id: threadId, run_id: runId, no }, caller }, reply) => {
      await runs.get(caller, { threadId, runId })
      return sendJson(reply, await inTurn(async () => {
        const found = numbered(await recorded(caller.tenant, runId))[Number(no)]
        if (found === undefined) throw new HeddleError('not_found', 'There is no such call.')
        return JSON.stringify(bodiesOf(found))
      }))
    })
}

interface NumberedCall {
  readonly no: number
  readonly attempt: number
  readonly call: RecordedCall
}

/** The calls of all executions in order. */
function numbered(executions: readonly RecordedExecution[]): readonly NumberedCall[] {
  return executions.flatMap(({ attempt, calls }) => calls.map((call) => ({ attempt, call })))
    .map((each, no) => ({ ...each, no }))
}

function listOf(executions: readonly RecordedExecution[]): RunCalls {
  return { is_recorded: executions.length > 0, is_cut: executions.some(({ isCut }) => isCut),
    calls: numbered(executions).map(headOf) }
}

function headOf({ no, attempt, call }: NumberedCall): RunCall {
  const { site, request, answer } = call
  return { no, site: site && { step: site.step, nodes: [...site.nodes], attempt: site.attempt },
    ordinal: call.ordinal, attempt, client: call.client, method: call.method, url: call.url,
    started_at: timeText(call.atMs), head_ms: call.headMs, ms: call.endMs,
    status: call.head?.status ?? null, end: call.end, failure: call.failure,
    request_bytes: request.bytes, answer_bytes: answer.bytes,
    is_cut: request.isCut || answer.isCut }
}

function bodiesOf(found: NumberedCall): RunCallBodies {
  const { head, request, answer } = found.call
  return { ...headOf(found), headers: (head?.headers ?? []).map(([name, value]) => [name, value]),
    request: bodyOf(request), answer: bodyOf(answer) }
}

function bodyOf({ bytes, isCut, chunks }: RecordedBody): RunCallBody {
  const whole = Buffer.concat(chunks)
  const encoding = isUtf8(whole) ? 'utf8' : 'base64'
  return { bytes, is_cut: isCut, encoding, text: whole.toString(encoding), chunks: chunks.length }
}
