/** Rows as messages of the typed API, and the parts of requests that several services share. */

import type { MessageInitShape } from '@bufbuild/protobuf'
import { timestampFromMs, timestampMs } from '@bufbuild/protobuf/wkt'
import type { Timestamp } from '@bufbuild/protobuf/wkt'

import type { AssistantSchema } from '../../../proto/gen/frontdoor/v1/assistant_pb.js'
import type { Page } from '../../../proto/gen/frontdoor/v1/page_pb.js'
import type { RunSchema } from '../../../proto/gen/frontdoor/v1/run_pb.js'
import type { Checkpoint as WireCheckpoint,
  ThreadSchema } from '../../../proto/gen/frontdoor/v1/thread_pb.js'
import type { AssistantRow, RunRow } from '../../../proto/gen/storage/v1/row.ts'
import type { Checkpoint } from '../../api/index.ts'
import type { FoundThread } from '../operations/index.ts'
import { bytesOf } from './json-bytes.ts'

/** An assistant as a message. JSON fields that are empty become `{}`. */
export function assistantMessage(row: AssistantRow): MessageInitShape<typeof AssistantSchema> {
  const description = JSON.parse(row.descriptionJson || 'null') as string | null
  return {
    assistantId: row.assistantId,
    graphId: row.graphId,
    version: row.version,
    name: row.name,
    description: description ?? undefined,
    configJson: bytesOf(row.configJson || '{}'),
    contextJson: bytesOf(row.contextJson || '{}'),
    metadataJson: bytesOf(row.metadataJson || '{}'),
    createdAt: timestampFromMs(row.createdAtMs),
    updatedAt: timestampFromMs(row.updatedAtMs),
  }
}

/** A thread as a message. */
export function threadMessage(
  { row, values, extracted = '' }: FoundThread,
): MessageInitShape<typeof ThreadSchema> {
  const { timeToLive } = row
  return {
    threadId: row.threadId,
    status: row.status,
    createdAt: timestampFromMs(row.createdAtMs),
    updatedAt: timestampFromMs(row.updatedAtMs),
    stateUpdatedAt: timestampFromMs(row.stateUpdatedAtMs || row.createdAtMs),
    metadataJson: bytesOf(row.metadataJson || '{}'),
    configJson: bytesOf(row.configJson || '{}'),
    valuesJson: bytesOf(values || '{}'),
    interruptsJson: bytesOf(row.interruptsJson || '{}'),
    errorJson: bytesOf(row.errorJson || 'null'),
    extractedJson: bytesOf(extracted),
    ...timeToLive &&
      {
        timeToLive: { strategy: timeToLive.strategy, minutes: timeToLive.minutes,
          expiresAt: timestampFromMs(timeToLive.expiresAtMs) },
      },
  }
}

/** A run as a message. A delayed run counts as created when it may start. */
export function runMessage(row: RunRow): MessageInitShape<typeof RunSchema> {
  return {
    runId: row.runId,
    threadId: row.threadId,
    assistantId: row.assistantId,
    status: row.status,
    multitaskStrategy: row.multitaskStrategy,
    metadataJson: bytesOf(row.metadataJson || '{}'),
    kwargsJson: bytesOf(row.kwargsJson || '{}'),
    createdAt: timestampFromMs(Math.max(row.createdAtMs, row.notBeforeMs)),
    updatedAt: timestampFromMs(row.updatedAtMs),
    cancelReason: row.cancelReason,
    revision: row.revision,
  }
}

/** A page in the words of the request schemas. */
export function pageOf(page: Page | undefined): { limit?: number; offset?: number } {
  return { limit: page?.limit || undefined, offset: page?.offset }
}

/** A time in the words of the request schemas: ISO text, or an empty one, which they refuse. */
export function timeTextOf(time: Timestamp | undefined): string | undefined {
  const date = time && new Date(timestampMs(time))
  return date && (Number.isNaN(date.getTime()) ? '' : date.toISOString())
}

/** A reference to a checkpoint in the words of the request schemas; undefined if there is none. */
export function checkpointOf(checkpoint: WireCheckpoint | undefined): Checkpoint | undefined {
  return checkpoint && {
    checkpoint_id: checkpoint.checkpointId,
    checkpoint_ns: checkpoint.checkpointNs,
    checkpoint_map: Object.keys(checkpoint.checkpointMap).length > 0
      ? checkpoint.checkpointMap
      : undefined,
  }
}
