/** The embedded store: durable ports of one process over one SQLite file in a data directory. */

import { mkdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { Worker } from 'node:worker_threads'

import type { Env } from '../../../cluster/index.ts'
import type { KeyTable } from '../../access/index.ts'
import type { BillingTable } from '../../billing/index.ts'
import type { LogPort } from '../../checkpoint/index.ts'
import { HeddleError } from '../../errors.ts'
import type { LimitTable, TenantUse } from '../../limits/index.ts'
import { askIndex } from '../../search/index.ts'
import type { AssistantIndex, CronIndex, DueCrons, DueThreads, IndexAnswer, IndexQuestion,
  ItemIndex, RunTable, ThreadIndex, UnfinishedThread } from '../../search/index.ts'
import { durableQueue } from './durable/index.ts'
import type { StoreFile } from './requests/request.ts'
import type { EncodedRow } from './requests/write.ts'
import { provideFile, removeFile } from './writer/database-file.ts'
import { lockDirectory } from './writer/directory-lock.ts'
import { Lookup } from './writer/lookup.ts'
import { assistantIndex, billingTable, cronIndex, documentSearch, itemIndex, keyTable, limitTable,
  logPort, runTable, threadIndex } from './writer/ports.ts'
import type { DocumentSearch, RequestLink, RowLookup } from './writer/ports.ts'
import { SearchLink } from './writer/search-link.ts'
import { WriterLink } from './writer/writer-link.ts'
import type { OnLost } from './writer/writer-link.ts'

/** An open data directory. It belongs to the server, which closes it last. */
export interface EmbeddedStore {
  readonly log: LogPort
  readonly threads: ThreadIndex
  readonly runs: RunTable
  readonly assistants: AssistantIndex
  readonly crons: CronIndex
  readonly items: ItemIndex
  readonly keys: KeyTable
  readonly limits: LimitTable
  readonly billing: BillingTable
  /** Reads the use of a tenant. */
  use(tenant: string): Promise<TenantUse>
  /** Sleeping threads after a given place, the one that is due first in front. */
  due: DueThreads
  /** Crons after a given place, the one that is due first in front. */
  dueCrons: DueCrons
  /** Threads that a start must look at. */
  unfinished(): Promise<readonly UnfinishedThread[]>
  /** The epoch of this process, higher than that of every earlier process of this directory. */
  claimEpoch(): Promise<number>
  /** Finishes all requests, closes the file and releases the directory. */
  close(): Promise<void>
}

/** A store that is rebuilt at each start and holds the rows of some shards. */
export interface ScratchStore
  extends Pick<EmbeddedStore, 'log' | 'use' | 'due' | 'dueCrons' | 'close'> {
  readonly threads: ThreadIndex
  readonly assistants: AssistantIndex
  readonly crons: CronIndex
  readonly items: ItemIndex
  /** Replaces all rows of a shard. Of two rows of one thing the later one wins. */
  load(shard: number, rows: readonly EncodedRow[]): Promise<void>
  /** Later requests find the rows of the shard. All of them must be loaded. */
  cover(shard: number): Promise<void>
  /** Later requests find nothing of the shard. Its rows stay until it is unloaded. */
  uncover(shard: number): Promise<void>
  /** Removes the rows of a shard. */
  unload(shard: number): Promise<void>
  /** Answers a search. Names the shards whose rows were searched. */
  answer(question: IndexQuestion): Promise<IndexAnswer>
  /** The covered shards. */
  loaded(): Promise<readonly number[]>
  /** Threads of a shard that its new owner must look at. */
  unfinished(shard: number): Promise<readonly UnfinishedThread[]>
}

/** Directory and clock with which a store is opened. */
export interface EmbeddedStoreOptions {
  readonly directory: string
  readonly env: Env
  /** Called once with the reason when the store cannot be used until it is opened again. */
  readonly onLost?: OnLost
}

/** Most memory of a batch is garbage after the commit and should not reach the old generation. */
const youngGenerationMb = 64

/**
 * Opens a data directory, and creates it if it is missing. Throws HeddleError: `not_owner` if
 * another process has the directory, `unavailable` if it cannot be used.
 */
export async function openEmbeddedStore(options: EmbeddedStoreOptions): Promise<EmbeddedStore> {
  const { link, lookup, documents, close } = await openFile(options)
  return {
    log: logPort(link, options.env),
    threads: threadIndex(link, lookup, documents),
    runs: runTable(link, lookup, documents),
    assistants: assistantIndex(link, documents),
    crons: cronIndex(link, documents),
    items: itemIndex(link, lookup, documents),
    keys: keyTable(link),
    limits: limitTable(link),
    billing: billingTable(link),
    use: (tenant) => link.ask('use', tenant),
    due: (after, limit) => link.ask('dueThreads', after, limit),
    dueCrons: (after, limit, nowMs) => link.ask('dueCrons', after, limit, nowMs),
    unfinished: () => link.ask('unfinishedThreads'),
    claimEpoch: async () => link.generation.epoch,
    close,
  }
}

/** Opens an empty store. Deletes what is there. Throws as `openEmbeddedStore` does. */
export async function openScratchStore(
  options: EmbeddedStoreOptions & { readonly shards: number },
): Promise<ScratchStore> {
  return scratchStoreOver({ ...await openFile(options), env: options.env })
}

/** The parts of an open file with which a scratch store works. */
export interface ScratchParts {
  readonly link: RequestLink
  readonly lookup: RowLookup
  readonly documents: DocumentSearch
  readonly env: Pick<Env, 'uuid'>
  close(): Promise<void>
}

/** The store over an empty file whose rows come and go by shard. */
export function scratchStoreOver(
  { link, lookup, documents, env, close }: ScratchParts,
): ScratchStore {
  const use = (tenant: string) => link.ask('use', tenant)
  return {
    log: logPort(link, env),
    threads: threadIndex(link, lookup, documents),
    assistants: assistantIndex(link, documents),
    crons: cronIndex(link, documents),
    items: itemIndex(link, lookup, documents),
    answer: async (question) => {
      const searched: (readonly number[])[] = []
      const noted: DocumentSearch = {
        ...documents,
        threads: async (...query) => note(searched, await documents.threads(...query)),
        assistants: async (...query) => note(searched, await documents.assistants(...query)),
        crons: async (...query) => note(searched, await documents.crons(...query)),
        items: async (...query) => note(searched, await documents.items(...query)),
        namespaces: async (...query) => note(searched, await documents.namespaces(...query)),
      }
      // Asked in one turn, so that the shards are those whose rows the search found.
      const [found, loaded] = await Promise.all([
        askIndex({ threads: threadIndex(link, lookup, noted),
          assistants: assistantIndex(link, noted), crons: cronIndex(link, noted),
          items: itemIndex(link, lookup, noted), use }, question),
        link.ask('loadedShards'),
      ])
      return { ...found, covered: searched[0] ?? loaded }
    },
    use,
    due: (after, limit) => link.ask('dueThreads', after, limit),
    dueCrons: (after, limit, nowMs) => link.ask('dueCrons', after, limit, nowMs),
    load: (shard, rows) => link.write({ kind: 'load', shard, rows }),
    cover: (shard) => link.write({ kind: 'cover', shard }),
    uncover: (shard) => link.write({ kind: 'uncover', shard }),
    unload: (shard) => link.write({ kind: 'unload', shard }),
    loaded: () => link.ask('loadedShards'),
    unfinished: (shard) => link.ask('unfinishedThreadsOf', shard),
    close,
  }
}

/** Notes which shards were searched. */
function note<Found extends { readonly covered: readonly number[] }>(
  searched: (readonly number[])[],
  found: Found,
): Found {
  searched.push(found.covered)
  return found
}

interface OpenFile {
  readonly link: WriterLink
  readonly documents: DocumentSearch
  readonly lookup: Lookup
  close(): Promise<void>
}

async function openFile(
  { directory: path, env, shards, onLost }: EmbeddedStoreOptions & { readonly shards?: number },
): Promise<OpenFile> {
  const directory = resolve(path)
  makeDirectory(directory)
  await using opened = new AsyncDisposableStack()
  const unlock = lockDirectory(directory)
  opened.defer(unlock)
  const file: StoreFile = { path: join(directory, 'heddle.db'), shards }
  if (shards !== undefined) removeFile(file.path)
  provideFile(file.path)
  const worker = new Worker(new URL('./writer/writer.ts', import.meta.url), {
    name: 'store',
    workerData: file,
    resourceLimits: { maxYoungGenerationSizeMb: youngGenerationMb },
  })
  const link = await WriterLink.open(worker, env, onLost)
  opened.defer(() => link.close())
  const beside = opened.use(new DisposableStack())
  const lookup = beside.adopt(new Lookup(file), (last) => last.close())
  if (shards === undefined) {
    link.useQueue(
      durableQueue({ file: file.path, env, generation: link.generation, branches: lookup }),
    )
  }
  opened.move()
  const searches = new SearchLink(file, env.log)
  const close = async () => {
    // Runs in the same turn: what is asked after the call is refused.
    beside.dispose()
    await Promise.all([searches.close(), link.close()])
    unlock()
  }
  return { link, lookup, documents: documentSearch({ link, searches }), close }
}

function makeDirectory(directory: string): void {
  try {
    mkdirSync(directory, { recursive: true })
  } catch (error) {
    throw new HeddleError('unavailable', `The data directory ${directory} cannot be made. ` +
      'Choose a directory that this user may write.', {}, { cause: error })
  }
}
