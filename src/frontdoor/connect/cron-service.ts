/** CronService: the typed API of crons over the same operations as REST. */

import type { MessageInitShape } from '@bufbuild/protobuf'
import { timestampFromMs } from '@bufbuild/protobuf/wkt'
import type { ServiceImpl } from '@connectrpc/connect'

import type { CronRun, CronSchema, CronService,
  CronTimes } from '../../../proto/gen/frontdoor/v1/cron_pb.js'
import type { CronRow } from '../../../proto/gen/storage/v1/row.ts'
import { countCrons, createCron, getCron, getThread, searchCrons,
  updateCron } from '../../api/index.ts'
import { cronPayload } from '../http/render.ts'
import type { RouteParts } from '../http/route.ts'
import { takeRows } from '../http/row-bytes.ts'
import { checkerOf } from '../schema/validation.ts'
import { callerOf, goneSignal, tenantOf } from './caller-value.ts'
import { bytesOf, jsonIn } from './json-bytes.ts'
import { pageOf, timeTextOf } from './messages.ts'
import { breakpointsOf, runCallerOf } from './run-spec.ts'

/** The calls of `CronService`, over the operations. */
export function cronService(
  { crons, reads }: Pick<RouteParts, 'crons' | 'reads'>,
): ServiceImpl<typeof CronService> {
  return {
    createCron: async (request, context) => {
      const caller = runCallerOf(context, request.idempotencyKey)
      const threadId = request.threadId === ''
        ? null
        : checkerOf(getThread.params)({ thread_id: request.threadId }).thread_id
      const body = checkerOf(createCron.body)({ ...bodyOf(request),
        assistant_id: request.assistantId, multitask_strategy: request.multitaskStrategy })
      return { cron: cronMessage(await crons.create(callerOf(context), threadId, body, caller)) }
    },
    getCron: async (request, context) => ({
      cron: cronMessage(await crons.get(callerOf(context), cronIdOf(request))),
    }),
    updateCron: async (request, context) => {
      const end = request.clearEndTime ? { end_time: null } : {}
      const body = checkerOf(updateCron.body)({ ...bodyOf(request), ...end })
      const row = await crons.patch(callerOf(context), cronIdOf(request), body,
        runCallerOf(context, ''))
      return { cron: cronMessage(row) }
    },
    deleteCron: async (request, context) => {
      await crons.delete(callerOf(context), cronIdOf(request))
      return {}
    },
    searchCrons: async (request, context) => {
      const body = checkerOf(searchCrons.body)({ ...filterOf(request), ...pageOf(request.page),
        sort_by: request.sortBy, sort_order: request.sortOrder })
      const tenant = tenantOf(context)
      const { rows, total } = await crons.search(callerOf(context), body, goneSignal(context))
      using share = reads.share(tenant)
      takeRows(share, rows)
      return { crons: rows.map(cronMessage), total: BigInt(total) }
    },
    countCrons: async (request, context) => {
      const body = checkerOf(countCrons.body)(filterOf(request))
      return { count: BigInt(await crons.count(callerOf(context), body, goneSignal(context))) }
    },
  }
}

function cronIdOf({ cronId }: { readonly cronId: string }): string {
  return checkerOf(getCron.params)({ cron_id: cronId }).cron_id
}

/** Fields that creations and changes have in common, in the words of the request schemas. */
function bodyOf(
  { times, run, metadataJson }: { readonly times?: CronTimes; readonly run?: CronRun;
    readonly metadataJson: Uint8Array },
): Record<string, unknown> {
  return {
    ...times && {
      schedule: times.schedule,
      timezone: times.timezone === '' ? null : times.timezone,
      end_time: timeTextOf(times.endTime),
      enabled: times.enabled,
      on_run_completed: times.onRunCompleted,
    },
    ...run && {
      input: jsonIn('input_json', run.inputJson),
      config: jsonIn('config_json', run.configJson),
      context: jsonIn('context_json', run.contextJson),
      stream_mode: run.streamModes.length > 0 ? run.streamModes : undefined,
      stream_subgraphs: run.streamSubgraphs,
      stream_resumable: run.streamResumable,
      interrupt_before: breakpointsOf(run.interruptBefore),
      interrupt_after: breakpointsOf(run.interruptAfter),
      durability: run.durability,
      webhook: run.webhook || undefined,
    },
    metadata: jsonIn('metadata_json', metadataJson),
  }
}

function filterOf(
  request: { readonly assistantId?: string; readonly threadId?: string; readonly enabled?: boolean;
    readonly metadataJson: Uint8Array },
): Record<string, unknown> {
  return {
    assistant_id: request.assistantId,
    thread_id: request.threadId,
    enabled: request.enabled,
    metadata: jsonIn('metadata_json', request.metadataJson),
  }
}

function cronMessage(row: CronRow): MessageInitShape<typeof CronSchema> {
  return {
    cronId: row.cronId,
    assistantId: row.assistantId,
    threadId: row.threadId || undefined,
    schedule: row.schedule,
    timezone: row.timezone || undefined,
    endTime: timeOf(row.endTimeMs),
    enabled: row.enabled,
    onRunCompleted: row.onRunCompleted,
    metadataJson: bytesOf(row.metadataJson || '{}'),
    payloadJson: bytesOf(cronPayload(row)),
    userId: row.userId || undefined,
    createdAt: timestampFromMs(row.createdAtMs),
    updatedAt: timestampFromMs(row.updatedAtMs),
    nextRunAt: timeOf(row.nextMs),
  }
}

function timeOf(ms: number): ReturnType<typeof timestampFromMs> | undefined {
  return ms === 0 ? undefined : timestampFromMs(ms)
}
