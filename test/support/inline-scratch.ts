/** A scratch store in memory, without threads: each request is done when it is made. */

import type { Env } from '../../cluster/index.ts'
import { Database } from '../../src/store/embedded/file/database.ts'
import type { Question, Reader } from '../../src/store/embedded/requests/request.ts'
import { schema, Tables } from '../../src/store/embedded/requests/tables.ts'
import type { Write } from '../../src/store/embedded/requests/write.ts'
import { UnlistedShards } from '../../src/store/embedded/search/unlisted-shards.ts'
import { VectorCache } from '../../src/store/embedded/search/vector-cache.ts'
import { scratchStoreOver } from '../../src/store/embedded/store.ts'
import type { ScratchStore } from '../../src/store/embedded/index.ts'
import { slicesOf } from '../../src/store/embedded/writer/document-slices.ts'
import { documentSearch } from '../../src/store/embedded/writer/ports.ts'
import type { RequestLink, RowLookup, StoreThreads } from '../../src/store/embedded/writer/ports.ts'
import { commitTogether } from '../../src/store/embedded/writer/group-commit.ts'

/** Opens an empty store. Its tables, its commits and its searches are those of a member. */
export function openInlineScratch(env: Pick<Env, 'uuid'>, shards: number): ScratchStore {
  const database = new Database(':memory:', schema, false)
  const tables = new Tables(database, shards)
  database.transaction(() => tables.begin())
  const link = linkTo(database, tables)
  const searches = searchesOf(database, tables)
  const close = async () => database.close()
  return scratchStoreOver({ link, lookup: noLookup, env, close,
    documents: documentSearch({ link, searches }) })
}

/** All rows are read by questions: the link is ahead of every look-up. */
const noLookup: RowLookup = { thread: () => undefined, run: () => null, item: () => undefined }

function linkTo(database: Database, tables: Tables): RequestLink {
  const write = async (each: Write) => {
    const [error] = commitTogether(database, tables, [{ write: each, number: 0,
      acknowledged: false }])
    if (error !== undefined) throw error
  }
  return {
    ask: async <Name extends Question>(question: Name, ...values: Parameters<Reader[Name]>) => {
      if (question === 'wordsNoted') indexWords(database, tables)
      const read = tables.reader[question] as (...given: unknown[]) => ReturnType<Reader[Name]>
      return read(...values)
    },
    write,
    settled: () => Promise.resolve(),
    isAheadOn: () => true,
    expectBranch: () => {},
  }
}

function indexWords(database: Database, { words }: Tables): void {
  while (!words.isIndexed(words.newest)) database.transaction(() => words.step())
}

function searchesOf(database: Database, { reader }: Tables): StoreThreads['searches'] {
  const vectors = new VectorCache()
  return { search: async (question, ready) => {
    await ready()
    const slices = slicesOf(database, question, { unlisted: new UnlistedShards(database, true),
      vectors })
    for (;;) {
      const { done, value } = slices.next()
      if (done) return { ...value, covered: reader.loadedShards() }
    }
  } }
}
