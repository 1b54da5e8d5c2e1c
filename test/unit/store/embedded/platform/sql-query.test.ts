/** Questions in SQL see their projects and nothing else, and end. */

import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { afterAll, beforeAll, describe, expect, it } from 'vitest'

import { systemEnv } from '../../../../../cluster/index.ts'
import { noFields } from '../../../../../src/platform/index.ts'
import type { SpanStore } from '../../../../../src/platform/index.ts'
import { Database } from '../../../../../src/store/embedded/file/database.ts'
import { openSpanStore } from '../../../../../src/store/embedded/platform/open.ts'
import { traceSchema } from '../../../../../src/store/embedded/platform/schema.ts'
import { sqlOver } from '../../../../../src/store/embedded/platform/sql-query.ts'

const beganUs = Date.UTC(2026, 10, 26, 12) * 1_000
const [mine, other, theirs] = [randomUUID(), randomUUID(), randomUUID()]

describe('a question in SQL', () => {
  const directory = mkdtempSync(join(tmpdir(), 'heddle-sql-'))
  let store: SpanStore
  const roots: string[] = []
  beforeAll(async () => {
    store = await openSpanStore({ directory, diskBytes: 2 ** 40 }, 'write')
    await write('acme', mine, ['search', 'search', 'answer'])
    await write('acme', other, ['other'])
    await write('globex', theirs, ['secret'])
    await store.putFeedback([{ place: null,
      row: { tenant: 'acme', id: randomUUID(), key: 'good', score: 1, value: null, span: roots[0]!,
        trace: roots[0]!, project: mine, createdUs: beganUs, modifiedUs: beganUs,
        bodyJson: '{}' } }])
  })
  afterAll(async () => {
    await store.close()
    rmSync(directory, { recursive: true })
  })

  async function write(tenant: string, project: string, names: readonly string[]) {
    const spans = names.map((name, index) => {
      const [id, startUs] = [randomUUID(), beganUs + index * 1_000_000]
      if (tenant === 'acme') roots.push(id)
      return { place: { tenant, project, startUs, traceStartUs: startUs, id, trace: id },
        kind: 'post' as const, arrivedUs: startUs, terms: [], indexed: 0, block: null,
        fields: { ...noFields, root: true, name, type: 'chain', endUs: startUs + 250_000,
          totalTokens: 10 * (index + 1), thread: 'th',
          kinds: index === 1 ? { promptTokens: { cache_read: 7 } } : null } }
    })
    await store.write({ tenant, spans, blocks: [], files: [], timeToLiveS: new Map() })
  }
  const ask = (query: string, projects = [mine], fromUs = 0, tenant = 'acme') =>
    store.querySql!({ tenant, query, projects: projects.map((id) => ({ id, fromUs })) })

  it('counts, joins and sorts what its projects have', async () => {
    expect(await ask(`SELECT name, count(*) AS runs, sum(total_tokens) AS tokens,
      avg(latency_seconds) AS s FROM runs GROUP BY name ORDER BY runs DESC`)).toEqual({
      columns: [{ name: 'name', data_type: 'string' }, { name: 'runs', data_type: 'integer' }, {
        name: 'tokens',
        data_type: 'integer',
      }, { name: 's', data_type: 'float' }],
      rows: [['search', 2, 30, 0.25], ['answer', 1, 30, 0.25]],
      truncation_reason: null,
    })
    const { rows } = await ask(`SELECT r.id, r.project_id, r.trace_id, r.start_time, r.thread_id,
      f.score FROM runs r JOIN feedback f ON f.run_id = r.id`)
    const kinds = await ask(`SELECT name, prompt_token_details ->> 'cache_read' AS cached,
      completion_token_details AS written FROM runs WHERE prompt_token_details IS NOT NULL`)
    expect(kinds.rows).toEqual([['search', 7, null]])
    expect(rows).toEqual([[roots[0], mine, roots[0], '2026-11-26T12:00:00.000000Z', 'th', 1]])
    expect((await ask('SELECT name FROM runs ORDER BY name', [mine, other])).rows).toHaveLength(4)
  })

  it('sees nothing of other projects, of other tenants, or of what has expired', async () => {
    expect((await ask('SELECT * FROM runs', [theirs])).rows).toEqual([])
    expect((await ask('SELECT * FROM runs', [mine], 0, 'globex')).rows).toEqual([])
    const later = await ask('SELECT name FROM runs', [mine], beganUs + 2_000_000)
    expect(later.rows).toEqual([['answer']])
  })

  it('reads a file in which no version wrote that knows kinds of tokens', async () => {
    const file = join(directory, 'earlier.db')
    new Database(file, traceSchema.slice(0, -1)).close()
    const answer = await sqlOver(file, systemEnv()).querySql!({ tenant: 'acme', projects: [],
      query: 'SELECT count(prompt_token_details) AS some FROM runs' })
    expect(answer.rows).toEqual([[0]])
  })

  it.each([
    'SELECT name FROM main.span',
    'SELECT count(*) FROM span',
    'WITH runs AS (SELECT name FROM main.span) SELECT * FROM runs',
    'WITH feedback AS (SELECT body FROM main.feedback) SELECT * FROM feedback',
    'SELECT * FROM (SELECT name FROM main.span) AS runs',
    'SELECT name FROM runs WHERE EXISTS (SELECT 1 FROM main.project)',
    'SELECT sql FROM sqlite_temp_schema',
    'SELECT * FROM pragma_database_list',
    'SELECT * FROM main.feedback_token',
    'SELECT count(*) FROM main.feedback',
    'SELECT count(*) FROM feedback_token',
    'SELECT count(*) FROM word',
    'SELECT count(*) FROM sqlite_schema',
    'WITH n AS (SELECT 1) SELECT (SELECT count(*) FROM tenant) FROM n',
    "ATTACH DATABASE '/tmp/x.db' AS x",
    "SELECT load_extension('x')",
    'PRAGMA table_list',
    'DELETE FROM span',
    'CREATE TEMP TABLE t (x)',
    'CREATE TEMP VIEW runs2 AS SELECT * FROM span',
    'BEGIN',
    'EXPLAIN SELECT * FROM span',
  ])('may not do more than reading them: %s', async (query) => {
    await expect(ask(query)).rejects.toMatchObject({ code: 'invalid' })
  })

  it('says what is wrong with it, and names nothing that is hidden', async () => {
    const wrong = await ask('SELECT nowhere FROM runs').catch((error: Error) => error.message)
    expect(wrong).toBe('query: no such column: nowhere.')
    await expect(ask('SELEC')).rejects.toThrow(/^query: near "SELEC": syntax error\.$/)
  })

  it('is answered in part if there is too much', async () => {
    // A slow machine needs longer than a question may take.
    const env = systemEnv({ level: 'silent' })
    const patient = sqlOver(join(directory, 'traces.db'), { ...env,
      after: (ms, work) => env.after(20 * ms, work) })
    const ask = (query: string) => patient.querySql({ tenant: 'acme', projects: [], query })
    const numbers = (count: number) =>
      `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT ${count})`
    const many = await ask(`${numbers(20_000)} SELECT i FROM n`)
    expect([many.rows.length, many.truncation_reason]).toEqual([10_000, 'row_limit'])
    const long = await ask(`${numbers(200)} SELECT hex(zeroblob(100000)) FROM n`)
    expect(long.truncation_reason).toBe('size_limit')
    const large = await ask(`${numbers(2)} SELECT zeroblob(16000000) FROM n`)
    expect([large.rows.length, large.truncation_reason]).toEqual([1, 'size_limit'])
    for (const size of [20_000_000, 100_000_000]) {
      await expect(ask(`SELECT zeroblob(${size})`)).rejects.toMatchObject({ code: 'invalid' })
    }
    await expect(ask('SELECT zeroblob(20000000)')).rejects.toThrow('ask for less of it')
  })

  it('ends when it takes too long, or when nobody waits for it any more', async () => {
    const endless = 'WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) ' +
      'SELECT count(*) FROM n'
    const question = { tenant: 'acme', projects: [], query: endless }
    const env = systemEnv({ level: 'silent' })
    const soon = sqlOver(join(directory, 'traces.db'), { ...env,
      after: (_ms, work) => env.after(300, work) })
    await expect(soon.querySql(question)).rejects.toThrow(/took longer than 10 seconds/)
    const leaving = new AbortController()
    const left = store.querySql!(question, leaving.signal)
    env.after(200, () => leaving.abort(new Error('left')))
    await expect(left).rejects.toThrow('left')
  })
})
