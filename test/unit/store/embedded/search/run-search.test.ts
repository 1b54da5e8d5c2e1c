/** A search of runs that looks at more rows than it may: it goes on, and names no run of others. */

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'

import { readMetadataFilter } from '../../../../../src/search/index.ts'
import type { RunPlace } from '../../../../../src/search/index.ts'
import { Database } from '../../../../../src/store/embedded/file/database.ts'
import { schema, Tables } from '../../../../../src/store/embedded/requests/tables.ts'
import { RunSearch } from '../../../../../src/store/embedded/search/run-search.ts'

/** One run in 5 000 is of the thread of `ann`. 100 are made in each millisecond. */
const runs = `WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 25000)
  INSERT INTO run SELECT NULL, 'local', iif(i % 5000 = 4999, 'own', 'other'),
    printf('r%05d', i), i / 100, 'success', X'' FROM n`

it('goes on behind a time instead of a run that the caller must not see', () => {
  const directory = mkdtempSync(join(tmpdir(), 'heddle-runs-'))
  const database = new Database(join(directory, 'heddle.db'), schema)
  try {
    void new Tables(database)
    database.prepare(runs).run()
    for (const [id, owner] of [['own', 'ann'], ['other', 'bob']]) {
      database.prepare(`INSERT INTO thread VALUES (NULL, 'local', ?, X'', 1, 1, 'idle', 0, 1, 1, 1,
        json_object('owner', ?), X'')`).run(id!, owner!)
    }
    const allowed = readMetadataFilter({ owner: 'ann' })
    const pages: (readonly [found: number, next: RunPlace | undefined])[] = []
    let after: RunPlace | undefined
    do {
      const search = new RunSearch(database).search({ tenant: 'local', limit: 3, after, allowed })
      let step = search.next()
      while (step.done !== true) step = search.next()
      after = step.value.next
      pages.push([step.value.sizes.length, after])
    } while (after)
    expect(pages).toEqual([[3, { createdAtMs: 149, runId: 'r14999' }], [2, undefined]])
    const bobs = { tenant: 'local', limit: 3, allowed: readMetadataFilter({ owner: 'eve' }) }
    const search = new RunSearch(database).search(bobs)
    let step = search.next()
    while (step.done !== true) step = search.next()
    expect(step.value).toEqual({ sizes: [], next: { createdAtMs: 50, runId: '' } })
  } finally {
    database.close()
    rmSync(directory, { recursive: true })
  }
})
