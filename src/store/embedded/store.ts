/** The embedded store: durable ports of one process over one SQLite file in a data directory. */

import { mkdirSync, rmSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { Worker } from 'node:worker_threads'

import type { Env } from '../../../cluster/index.ts'
import type { LogPort } from '../../checkpoint/index.ts'
import { HeddleError } from '../../errors.ts'
import type { AssistantIndex, RunTable, ThreadIndex } from '../../records/index.ts'
import { lockDirectory } from './directory-lock.ts'
import { Lookup } from './lookup.ts'
import { assistantIndex, logPort, runTable, threadIndex } from './ports.ts'
import type { SearchedTable } from './write.ts'
import { WriterLink } from './writer-link.ts'

export interface EmbeddedStore {
  readonly log: LogPort
  readonly threads: ThreadIndex
  readonly runs: RunTable
  readonly assistants: AssistantIndex
  /** Puts rows that come encoded; nothing changes where what is stored is newer. */
  fill(table: SearchedTable, bodies: readonly Uint8Array[]): Promise<void>
  /** The epoch of this life: higher than that of every life of this directory before. */
  claimEpoch(): Promise<number>
  /** Finishes what was asked for, closes the file and gives the directory back. */
  close(): Promise<void>
}

export interface EmbeddedStoreOptions {
  readonly directory: string
  readonly env: Env
  /** False for a store that is made anew at each start and may be lost; true unless told. */
  readonly durable?: boolean
}

/** Most of what a batch makes is garbage once it is committed: it should never leave the young. */
const youngGenerationMb = 64

/**
 * Makes the directory where it is missing. Throws HeddleError: `not_owner` where another process
 * has the directory, `unavailable` where it cannot be used.
 */
export async function openEmbeddedStore(options: EmbeddedStoreOptions): Promise<EmbeddedStore> {
  const { env, durable = true } = options
  const directory = resolve(options.directory)
  makeDirectory(directory)
  const unlock = lockDirectory(directory)
  const file = join(directory, 'heddle.db')
  try {
    if (!durable) empty(file)
    const worker = new Worker(new URL('./writer.ts', import.meta.url), {
      name: 'store',
      workerData: { file, durable },
      resourceLimits: { maxYoungGenerationSizeMb: youngGenerationMb },
    })
    const link = await WriterLink.open(worker, env.log)
    const lookup = new Lookup(file)
    return {
      log: logPort(link),
      threads: threadIndex(link, lookup),
      runs: runTable(link, lookup),
      assistants: assistantIndex(link),
      fill: (table, bodies) =>
        link.write({ kind: 'fill', table, rows: bodies.map((body) => ({ body })) }),
      claimEpoch: async () => link.epoch,
      close: async () => {
        lookup.close()
        await link.close()
        unlock()
      },
    }
  } catch (error) {
    unlock()
    throw error
  }
}

function makeDirectory(directory: string): void {
  try {
    mkdirSync(directory, { recursive: true })
  } catch (error) {
    throw new HeddleError('unavailable', `The data directory ${directory} cannot be made. ` +
      'Choose a directory that this user may write.', {}, { cause: error })
  }
}

function empty(file: string): void {
  for (const suffix of ['', '-wal', '-shm']) rmSync(`${file}${suffix}`, { force: true })
}
