/** The store settings of a langgraph.json: how long items live, and how they are found. */

import { extname, resolve } from 'node:path'

import { z } from 'zod'

const minutes = z.number('must be a number of minutes').positive('must be above 0')

/** Shape of the key `store`. */
export const storeShape = z.looseObject({
  index: z.looseObject({
    embed: z.string('must name a file and its export, like "./embed.ts:embed"'),
    dims: z.int('must be a whole number').positive('must be above 0').max(16_384,
      'must not be above 16384'),
    fields: z.array(z.string(), { error: 'must be a list of paths' }).nullish(),
  }, { error: 'must be {"embed": "./embed.ts:embed", "dims": 1536}' }).nullish(),
  ttl: z.looseObject({
    default_ttl: minutes.nullish(),
    refresh_on_read: z.boolean('must be true or false').nullish(),
    sweep_interval_minutes: minutes.nullish(),
  }, { error: 'must be an object' }).nullish(),
}, { error: 'must be an object' })

/** Store settings of a langgraph.json, checked and in milliseconds. */
export interface ProjectStore {
  /** Undefined if items are not found by meaning. */
  readonly embedding?: ProjectEmbedding | undefined
  /** Time to live of items that are put without one; 0 for no end. */
  readonly ttlMs: number
  readonly refreshOnRead: boolean
  /** Time between two sweeps of ended items; undefined for the usual time. */
  readonly sweepMs?: number | undefined
}

/** The project's own embedding: a function or an Embeddings object of LangChain. */
export interface ProjectEmbedding {
  /** Absolute path. */
  readonly file: string
  readonly exportName: string
  readonly dims: number
  readonly fields: readonly string[]
}

const minuteMs = 60_000
/** Longest time that setTimeout takes, in milliseconds. */
const longestMs = 2 ** 31 - 1

/** The settings with their defaults. */
export function storeOf(root: string,
  { index, ttl }: Partial<z.infer<typeof storeShape>>): ProjectStore {
  const { default_ttl, refresh_on_read, sweep_interval_minutes } = ttl ?? {}
  return {
    ...index && isFile(index.embed) && { embedding: embeddingOf(root, { ...index }) },
    ttlMs: Math.ceil((default_ttl ?? 0) * minuteMs),
    refreshOnRead: refresh_on_read ?? true,
    ...sweep_interval_minutes && {
      sweepMs: Math.min(Math.ceil(sweep_interval_minutes * minuteMs), longestMs),
    },
  }
}

/** True for `./embed.ts:embed`, false for a model of a provider, as `openai:small`. */
export function isFile(embed: string): boolean {
  return /^\.[cm]?[jt]sx?$/.test(extname(fileOf(embed)))
}

function embeddingOf(root: string,
  { embed, dims, fields }: { readonly embed: string; readonly dims: number;
    readonly fields?: readonly string[] | null | undefined }): ProjectEmbedding {
  const exportName = embed.slice(fileOf(embed).length + 1) || 'default'
  return { file: resolve(root, fileOf(embed)), exportName, dims, fields: fields ?? ['$'] }
}

function fileOf(embed: string): string {
  const end = embed.lastIndexOf(':')
  return end < 0 ? embed : embed.slice(0, end)
}
