/** Statements that search threads use an index, whatever they start from. */

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

import { readMetadataFilter } from '../../../../../src/search/index.ts'
import type { ThreadFilter } from '../../../../../src/search/index.ts'
import { Database } from '../../../../../src/store/embedded/file/database.ts'
import { ofClause, ofIds, ofStatus, searchOf, select, valuesOf,
  walk } from '../../../../../src/store/embedded/search/thread-select.ts'
import { schema, Tables } from '../../../../../src/store/embedded/requests/tables.ts'

const orders = ['thread_id', 'created_at', 'updated_at', 'state_updated_at'] as const

describe('a statement that searches threads', () => {
  let directory: string
  let database: Database
  let tables: Tables

  beforeAll(() => {
    directory = mkdtempSync(join(tmpdir(), 'heddle-select-'))
    database = new Database(join(directory, 'heddle.db'), schema)
    tables = new Tables(database)
  })
  afterAll(() => {
    database.close()
    rmSync(directory, { recursive: true })
  })

  const planOf = (sql: string, filter: ThreadFilter) =>
    database.prepare<[number, number, number, string]>(`EXPLAIN QUERY PLAN ${sql}`)
      .all({ ...valuesOf(searchOf(filter)), limit: 10, offset: 0 })
      .map(([, , , detail]) => detail)
  const filter: ThreadFilter = { tenant: 'local', status: 'busy', ids: ['a'],
    metadata: { user: 'a', graph_id: 'b', tags: ['c'] } }
  const search = searchOf(filter)

  it.each(orders)('reads in the order of %s and sorts at most rows with equal times', (order) => {
    for (const descending of [true, false]) {
      const sql = select(search, walk(order), { order, descending, edged: false, placed: false })
      const plan = planOf(sql, filter)
      expect(plan[0]).toMatch(/^SEARCH d USING (COVERING )?INDEX thread_/)
      expect(plan).not.toContain('USE TEMP B-TREE FOR ORDER BY')
    }
  })

  it.each([['a status', ofStatus(1)], ['a part of the metadata', ofClause(search, 1, 1)]])(
    'that starts from %s reads in the order of creation',
    (_, start) => {
      const sql = select(search, start, { order: 'created_at', descending: true, edged: false,
        placed: false })
      const plan = planOf(sql, filter)
      expect(plan[0]).toMatch(/^SEARCH d USING/)
      expect(plan).not.toContain('USE TEMP B-TREE FOR ORDER BY')
      expect(plan.filter((step) => /^SCAN [dtx]\b/.test(step))).toEqual([])
    },
  )

  it('looks up threads by id', () => {
    const plan = planOf(select(search, ofIds(1)), filter)
    expect(plan.join('\n'))
      .toMatch(/SEARCH d USING INDEX thread_thread_id \(tenant=\? AND thread_id=\?\)/)
  })

  it('counts by metadata without reading rows', () => {
    const only = searchOf({ tenant: 'local', metadata: { user: 'a', graph_id: 'b' } })
    const plan = planOf(select(only, ofClause(only, 0, 1)), { tenant: 'local',
      metadata: { user: 'a' } })
    expect(plan.length).toBe(2)
    for (const step of plan) expect(step).toMatch(/USING PRIMARY KEY \(tenant=\? AND token=\?/)
  })

  it('is one for the search thread if each choice has more than a thousand threads', () => {
    database.prepare(`WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 999)
      INSERT INTO thread_meta SELECT 'big', '"open":true', i, i FROM n`).run()
    database.prepare(`INSERT INTO thread_meta VALUES ('big', '"user":"a"', 1, 1)`).run()
    const count = (allowed: unknown) =>
      tables.reader.countThreads({ tenant: 'big', allowed: readMetadataFilter(allowed) })
    expect(count({ open: true })).toBe(1_000)
    expect(count({ $or: [{ user: 'a' }, { open: true }] })).toBeUndefined()
    expect(count({ $or: [{ user: 'b' }, { open: true }] })).toBe(1_000)
    expect(count({ user: 'a', $or: [{ user: 'a' }, { open: true }] })).toBe(1)
    expect(count({ $or: [] })).toBe(0)
  })

  it('reads only threads with a token of a choice', () => {
    const filter: ThreadFilter = { tenant: 'local',
      allowed: readMetadataFilter({ $or: [{ user: 'a' }, { open: true }] }) }
    const search = searchOf(filter)
    const order = { order: 'created_at', descending: true, edged: false, placed: false } as const
    for (const page of [undefined, order]) {
      const plan = planOf(select(search, ofClause(search, 0, 2), page), filter)
      expect(plan.filter((step) => step.includes('thread_meta'))).toEqual([
        'SEARCH thread_meta USING PRIMARY KEY (tenant=? AND token=?)',
      ])
      expect(plan.filter((step) => step.startsWith('SCAN thread'))).toEqual([])
    }
  })
})
