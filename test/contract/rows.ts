/** Complete rows for tests, which state only the fields that they are about. */

import { randomUUID } from 'node:crypto'
import { v7 } from 'uuid'

import type { AssistantRow, Branch, CronRow, ItemRow, RunRow,
  ThreadRow } from '../../proto/gen/storage/v1/row.ts'
import type { NewRow } from '../../src/checkpoint/index.ts'

export function aBranch(...ancestors: { id: string; through: number }[]): Branch {
  return { id: randomUUID(), ancestors }
}

/** A branch forked from row `through` of `source`. */
export function copyOf(source: Branch, through: number): Branch {
  return aBranch(...source.ancestors, { id: source.id, through })
}

export function aRow(row: Partial<NewRow> & Pick<NewRow, 'branch' | 'seq'>): NewRow {
  const epoch = row.epoch ?? 1
  return {
    tenant: 'local',
    epoch,
    prevEpoch: row.seq === 1 ? 0 : epoch,
    places: [],
    body: textBody(`${row.branch.id} ${row.seq}`),
    ...row,
  }
}

export function textBody(text: string): Uint8Array {
  return new TextEncoder().encode(text)
}

export function bodyText(body: Uint8Array): string {
  return new TextDecoder().decode(body)
}

export function aThread(row: Partial<ThreadRow> = {}): ThreadRow {
  return {
    tenant: 'local',
    threadId: randomUUID(),
    branch: aBranch(),
    epoch: 1,
    seq: 1,
    createdAtMs: 1_000,
    updatedAtMs: 1_000,
    stateUpdatedAtMs: 1_000,
    status: 'idle',
    metadataJson: '{}',
    configJson: '{}',
    errorJson: '',
    interruptsJson: '{}',
    head: undefined,
    hidden: false,
    movedBack: false,
    deleted: false,
    resting: 'idle',
    stepSeq: 0,
    unfinished: [],
    applied: [],
    owedWebhooks: [],
    storedBytes: 0,
    ...row,
  }
}

/** Its id is greater than that of every run made before it. */
export function aRun(row: Partial<RunRow> = {}): RunRow {
  return {
    tenant: 'local',
    threadId: randomUUID(),
    runId: v7(),
    createdAtMs: 1_000,
    updatedAtMs: 1_000,
    status: 'pending',
    assistantId: '',
    multitaskStrategy: 'enqueue',
    metadataJson: '{}',
    kwargsJson: '{}',
    planJson: '{}',
    notBeforeMs: 0,
    attempt: 0,
    baseCheckpointId: '',
    started: false,
    startedAtMs: 0,
    ownerDeaths: 0,
    suspect: false,
    errorJson: '',
    commandId: '',
    createdSeq: 0,
    firstSeq: 0,
    lastSeq: 0,
    finalCheckpointId: '',
    interruptsJson: '',
    ...row,
  }
}

export function anAssistant(row: Partial<AssistantRow> = {}): AssistantRow {
  return {
    tenant: 'local',
    assistantId: randomUUID(),
    epoch: 1,
    seq: 1,
    graphId: 'agent',
    name: 'Untitled',
    descriptionJson: 'null',
    configJson: '{}',
    contextJson: '{}',
    metadataJson: '{}',
    createdAtMs: 1_000,
    updatedAtMs: 1_000,
    version: 1,
    newestVersion: 1,
    applied: [],
    branch: aBranch(),
    storedBytes: 0,
    ...row,
  }
}

export function aCron(row: Partial<CronRow> = {}): CronRow {
  return {
    tenant: 'local',
    cronId: randomUUID(),
    branch: aBranch(),
    epoch: 1,
    seq: 1,
    createdAtMs: 1_000,
    updatedAtMs: 1_000,
    assistantId: randomUUID(),
    threadId: '',
    schedule: '* * * * *',
    timezone: '',
    endTimeMs: 0,
    enabled: false,
    onRunCompleted: 'delete',
    metadataJson: '{}',
    payloadJson: '{}',
    userId: '',
    nextMs: 0,
    wakeMs: 0,
    firedMs: 0,
    refusedMs: 0,
    refusedSinceMs: 0,
    applied: [],
    storedBytes: 0,
    gaps: [],
    lastMs: 0,
    lastRunId: '',
    lastReason: '',
    ...row,
  }
}

export function anItem(fields: Partial<ItemRow> = {}): ItemRow {
  return { tenant: 'local', namespace: ['a'], key: randomUUID(), epoch: 1, valueJson: '{}',
    createdAtMs: 1, updatedAtMs: 1, ttlMs: 0, expiresAtMs: 0, vectors: Buffer.alloc(0), dims: 0,
    applied: [], ...fields }
}
