/** The handlers of ingest over spans in memory, with projects that are made on first use. */

import { createHash } from 'node:crypto'

import { ingestHandlers } from '../../../../src/platform/threads/ingest-handlers.ts'
import type { IngestAnswer, IngestCall, Project, SpanHead,
  SpanStore } from '../../../../src/platform/index.ts'
import type { PriceJson } from '../../../../src/platform/ingest/pricing/prices.ts'
import { openBlock } from '../../../../src/platform/spans/block.ts'
import { payloadOf } from '../../../../src/platform/spans/payload.ts'
import { uuidOfBytes } from '../../../../src/uuid-bytes.ts'
import { virtualEnv } from '../../../support/env.ts'
import type { VirtualEnv } from '../../../support/env.ts'
import { multipartOf, partsOfRuns } from '../../../support/ingest-bodies.ts'
import type { ClientOperation } from '../../../support/ingest-bodies.ts'
import { memorySpans } from '../../../support/memory-spans.ts'

/** The handlers and what is around them. */
export interface IngestHouse {
  readonly store: SpanStore
  readonly env: VirtualEnv
  /** Names that were asked for, in their order. */
  readonly asked: string[]
  /** Names of projects whose spans a rule reads, and the rules that were woken. */
  readonly ruled: Set<string>
  readonly woken: string[]
  /** When projects began that were made, by their names. */
  readonly starts: ReadonlyMap<string, number>
  /** Deletes a project, by its name. */
  deleteProject(name: string): void
  send(call: Partial<IngestCall> & { readonly body: Buffer }): Promise<IngestAnswer>
  multipart(operations: readonly ClientOperation[]): Promise<IngestAnswer>
  handlers: ReturnType<typeof ingestHandlers>
  /** All heads of a tenant by id, with their payloads as JSON values. */
  spans(tenant?: string): Promise<ReadonlyMap<string, SeenSpan>>
}

/** A head with its payload. */
export type SeenSpan = SpanHead & { readonly payload: Readonly<Record<string, unknown>> }

/** The id of a project in these tests, by its name. */
export function projectId(name: string): string {
  return uuidOfBytes(createHash('sha256').update(name).digest().subarray(0, 16))
}

/** Opens the handlers. */
export function ingestHouse(
  changes: (store: SpanStore) => SpanStore = (store) => store,
  prices: readonly PriceJson[] = [],
): IngestHouse {
  const store = changes(memorySpans())
  const env = virtualEnv()
  const asked: string[] = []
  const [ruled, woken] = [new Set<string>(), [] as string[]]
  const starts = new Map<string, number>()
  const made = new Map<string, Project>()
  const project = (name: string): Project => ({ id: projectId(name), name, startMs: 0, endMs: null,
    description: null, extraJson: '{}', referenceDatasetId: null, retentionDays: 14,
    longLived: false, createdMs: 0, modifiedMs: 0, restJson: '{}' })
  const handlers = ingestHandlers({ store, env, needs: {
    datasets: async () => [],
    chargeDataset: async () => undefined,
    publishDataset: async () => undefined,
    projects: async ({ names, ids, startsMs = [] }) => {
      asked.push(...names)
      names.forEach((name, index) => starts.set(name, startsMs[index]!))
      for (const name of names) made.set(projectId(name), project(name))
      return [...names.map(project), ...ids.flatMap((id) => made.get(id) ?? [])].map((each) =>
        ruled.has(each.name)
          ? { ...each, readers: [{ owner: each.id, rules: [`rule of ${each.name}`] }] }
          : each
      )
    },
    ownProjects: async ({ runs }) => {
      asked.push(...runs.map(({ name }) => name))
      return runs.map(({ name }) => {
        const isNew = !made.has(projectId(name))
        made.set(projectId(name), project(name))
        return { ...project(name), isNew }
      })
    },
    prices: async () => prices,
    ended: ({ rules }) => {
      woken.push(...rules)
      return Promise.resolve()
    },
    removed: () => Promise.resolve(),
  } })
  const send: IngestHouse['send'] = (call) =>
    handlers.ingest({ tenant: 'acme', form: 'multipart', encoding: '', contentType: '', ...call })
  return {
    store,
    env,
    asked,
    ruled,
    woken,
    starts,
    handlers,
    deleteProject: (name) => void made.delete(projectId(name)),
    send,
    multipart: (operations) => send(multipartOf(partsOfRuns(operations))),
    spans: async (tenant = 'acme') => seenIn(store, tenant, [...made.keys()]),
  }
}

async function seenIn(store: SpanStore, tenant: string,
  projects: readonly string[]): Promise<ReadonlyMap<string, SeenSpan>> {
  const seen = new Map<string, SeenSpan>()
  const plan = { tenant, projects, fromUs: 0, toUs: Number.MAX_SAFE_INTEGER, order: 'oldest',
    rootsOnly: false, terms: [], ranges: [], type: null, name: null } as const
  for await (const { heads } of store.scan(plan)) {
    for (const head of heads) {
      const blocks = await store.blocks(head, head.blocks)
      const parts = head.blocks.flatMap((id) => openBlock(blocks.get(id)!))
        .filter(({ span }) => span === head.id)
      const payload = Object.fromEntries(
        Object.entries(payloadOf(parts)).map((
          [name, bytes],
        ) => [name, JSON.parse(bytes.toString()) as unknown]),
      )
      seen.set(head.id, { ...head, payload })
    }
  }
  return seen
}
