/** What `traces.db` does beside what all stores of spans promise: its file, its disk, its sweep. */

import { mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync,
  writeFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'

import { afterEach, beforeEach, describe, expect, it } from 'vitest'

import { noFields, termOf } from '../../../../../src/platform/index.ts'
import type { Plan, RemovedSpans, SpanFields, SpanPlace,
  SpanStore } from '../../../../../src/platform/index.ts'
import { traceStore } from '../../../../../src/store/embedded/platform/span-store.ts'
import { aPost, noonUs, placeOf, requestOf, scanned, uuidOf,
  wholePlan } from '../../../../contract/span-histories.ts'
import { clockAhead } from '../../../../support/clock-ahead.ts'
import { virtualEnv } from '../../../../support/env.ts'
import type { VirtualEnv } from '../../../../support/env.ts'

const tenant = 'acme'
const place = placeOf(tenant, { trace: 1, span: 0, project: 0 })
const newPlace = (index: number): SpanPlace => ({ ...place, id: uuidOf(4, index),
  trace: uuidOf(4, index), startUs: noonUs + index * 1e6, traceStartUs: noonUs + index * 1e6 })

let directory: string
let env: VirtualEnv
let stores: SpanStore[]

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'heddle-traces-'))
  env = virtualEnv(noonUs / 1000 + 3600e3)
  stores = []
})

afterEach(async () => {
  for (const store of stores) await store.close()
  await rm(directory, { recursive: true, force: true })
})

function open(access: 'write' | 'read' = 'write', more: object = {}): SpanStore {
  const store = traceStore({ directory, diskBytes: 2 ** 40, access, env, ...more })
  stores.push(store)
  return store
}

/** Lets the timers of a while fire, and what they begin end. */
async function pass(steps: number): Promise<void> {
  for (let step = 0; step < steps; step += 1) {
    env.advance(1_000)
    for (let turn = 0; turn < 4; turn += 1) await new Promise((resolve) => setImmediate(resolve))
  }
}

function rowsOf(table: string): number {
  const database = new DatabaseSync(join(directory, 'traces.db'), { readOnly: true })
  const { count } = database.prepare(`SELECT count(*) AS count FROM ${table}`).get()!
  database.close()
  return Number(count)
}

async function looked(store: SpanStore, plan: Partial<Plan>): Promise<number> {
  let sum = 0
  for await (const slice of store.scan({ ...wholePlan(tenant), ...plan })) sum += slice.looked
  return sum
}

describe('traces.db', () => {
  it('loses no span by age while the clock of the machine is ahead', async () => {
    const store = open()
    await store.write(requestOf(tenant, [aPost(place)]))
    const project = place.project
    await store.write({ ...requestOf(tenant, [aPost(newPlace(1))]),
      timeToLiveS: new Map([[project, 14 * 86_400]]) })
    await clockAhead(env, () => pass(130))
    expect((await scanned(store, wholePlan(tenant))).length).toBe(2)
    env.advance(15 * 86_400_000)
    await pass(130)
    expect((await scanned(store, wholePlan(tenant))).length).toBe(0)
  })

  it('is made by the first write; until then readers find nothing', async () => {
    const reader = open('read')
    expect(await scanned(reader, wholePlan(tenant))).toEqual([])
    expect(await reader.locate(tenant, [place.id])).toEqual([])
    expect(await reader.getFeedback(tenant, place.id)).toBeUndefined()
    expect(await reader.hours(tenant, place.project, 0, 9e9)).toEqual([])
    expect(readdirSync(directory)).toEqual([])
    await open().write(requestOf(tenant, [aPost(place)]))
    expect((await scanned(reader, wholePlan(tenant))).length).toBe(1)
  })

  it('that is damaged fails each call with what to do, until it is repaired', async () => {
    writeFileSync(join(directory, 'traces.db'), 'no database '.repeat(1_000))
    const [writer, reader] = [open(), open('read')]
    const damaged = { code: 'unavailable', message: expect.stringContaining('is damaged') }
    await expect(writer.write(requestOf(tenant, [aPost(place)]))).rejects.toMatchObject(damaged)
    await expect(scanned(reader, wholePlan(tenant))).rejects.toMatchObject(damaged)
    renameSync(join(directory, 'traces.db'), join(directory, 'away'))
    await writer.write(requestOf(tenant, [aPost(place)]))
    expect((await scanned(reader, wholePlan(tenant))).length).toBe(1)
  })

  it('that is empty fails each call with its name, but not the path of its folder', async () => {
    writeFileSync(join(directory, 'traces.db'), '')
    await expect(open().write(requestOf(tenant, [aPost(place)]))).rejects.toMatchObject({
      code: 'unavailable',
      message: 'traces.db is empty. Put a backup in its place, or move traces.db* away to begin ' +
        'anew.',
    })
  })

  it('that is damaged in the middle fails what reads there, until it is repaired', async () => {
    const spans = Array.from({ length: 500 }, (_, index) => aPost(newPlace(index)))
    await open().write(requestOf(tenant, spans))
    await stores.pop()!.close()
    const file = join(directory, 'traces.db')
    const bytes = readFileSync(file)
    const store = open()
    writeFileSync(file,
      Buffer.concat([bytes.subarray(0, 4_096), Buffer.alloc(bytes.byteLength - 4_096, 'x')]), {
      flag: 'r+',
    })
    await expect(scanned(store, wholePlan(tenant))).rejects.toMatchObject({ code: 'unavailable',
      message: expect.stringContaining('is damaged') })
    writeFileSync(file, bytes, { flag: 'r+' })
    expect((await scanned(store, wholePlan(tenant))).length).toBe(500)
  })

  it('that is moved away is begun anew, for nobody would find what is written there', async () => {
    const [writer, reader] = [open(), open('read')]
    await writer.write(requestOf(tenant, [aPost(newPlace(1))]))
    expect((await scanned(reader, wholePlan(tenant))).length).toBe(1)
    mkdirSync(join(directory, 'away'))
    for (const suffix of ['', '-wal', '-shm']) {
      renameSync(join(directory, `traces.db${suffix}`), join(directory, `away/traces.db${suffix}`))
    }
    await writer.write(requestOf(tenant, [aPost(newPlace(2))]))
    for (const store of [reader, open('read')]) {
      expect((await scanned(store, wholePlan(tenant))).map(({ id }) => id)).toEqual([
        newPlace(2).id,
      ])
    }
  })

  it('commits together what waits, and only that fails which must', async () => {
    const writer = open()
    const bad = aPost({ ...newPlace(2), startUs: 2 ** 60 })
    const written = await Promise.allSettled([[aPost(newPlace(1))], [bad], [aPost(newPlace(3))]]
      .map((spans) => writer.write(requestOf(tenant, spans))))
    expect(written.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
    expect((await scanned(writer, wholePlan(tenant))).map(({ id }) => id))
      .toEqual([newPlace(3).id, newPlace(1).id])
  })

  it('serves tenants by the time that their writes took, whoever wrote first', async () => {
    let ms = 0
    const writer = open('write', { env: { ...env, monotonicMs: () => ms += 20 } })
    const ended: string[] = []
    const write = (of: string, index: number) =>
      writer.write(requestOf(of, [aPost({ ...newPlace(index), tenant: of })]))
        .then(() => ended.push(of))
    const many = Array.from({ length: 20 }, (_, index) => write('many', index))
    const one = write('one', 100)
    await Promise.all([...many, one])
    expect(ended.indexOf('one')).toBeLessThanOrEqual(1)
  })

  it('touches hours again after a slow commit, whose spans a roll-up may have missed', async () => {
    let ms = noonUs / 1000
    const clock = () => ms += 2_000
    const writer = open('write', { env: { ...env, nowMs: clock, monotonicMs: () => ms } })
    await writer.write(requestOf(tenant, [aPost(place)]))
    const hour = Math.floor(place.startUs / 3600e6)
    const put = async (scanBeganMs: number) => {
      await writer.putRollUp(tenant, place.project, hour, Uint8Array.of(1), scanBeganMs * 1000)
      return (await writer.rollUps(tenant, place.project, hour, hour + 1)).size
    }
    // The clock was read last for the second touch.
    expect(await put(ms + 500)).toBe(0)
    expect(await put(ms + 2_000)).toBe(1)
  })

  it('reads numbers back that are larger than any of a client should be', async () => {
    const writer = open()
    await writer.write(
      requestOf(tenant, [
        aPost(place, {
          fields: { ...noFields, endUs: 2e17, promptTokens: 1e300, totalTokens: -1e300 },
        }),
      ]),
    )
    const [head] = await writer.heads([place])
    expect(head!.promptTokens).toBe(Number.MAX_SAFE_INTEGER)
  })

  it('of a version that knew no kinds of tokens keeps them from now on', async () => {
    const kinds = { promptTokens: { cache_read: 7 }, promptCost: { cache_read: 0.5 } }
    const says = (arrivedUs: number, fields: Partial<SpanFields>) =>
      requestOf(tenant, [
        aPost(place, { kind: 'patch', arrivedUs, fields: { ...noFields, ...fields } }),
      ])
    const before = open()
    await before.write(requestOf(tenant, [aPost(place, { arrivedUs: noonUs })]))
    await before.write(says(noonUs + 1, { name: 'one' }))
    await before.write(says(noonUs + 2, { type: 'llm' }))
    await before.close()
    stores = []
    const file = new DatabaseSync(join(directory, 'traces.db'))
    file.exec(`
      DROP INDEX span_expiry; DROP INDEX span_guessed; ALTER TABLE file DROP COLUMN project;
      ALTER TABLE span DROP COLUMN expires_min; ALTER TABLE span DROP COLUMN guessed;
      ALTER TABLE span DROP COLUMN kinds; UPDATE span SET ranks = substr(ranks, 1, 128);
      UPDATE schema_version SET version = 3
    `)
    file.close()
    const after = open()
    expect(await after.heads([place])).toMatchObject([{ name: 'one', type: 'llm', kinds: null }])
    await after.write(says(noonUs + 4, { kinds }))
    await after.write(says(noonUs + 3, { name: 'two', kinds: { promptTokens: { late: 1 } } }))
    expect(await after.heads([place])).toMatchObject([{ name: 'two', type: 'llm', kinds }])
  })
})

describe('a scan', () => {
  it('looks only at spans that an index finds', async () => {
    const writer = open()
    const spans = Array.from({ length: 300 }, (_, index) =>
      aPost(newPlace(index), {
        terms: [termOf.tag('a'), ...index % 100 === 0 ? [termOf.tag('b')] : [],
          termOf.tag('plain')],
        indexed: index % 100 === 0 ? 2 : 1,
        fields: { ...noFields, root: index % 10 === 0 },
      }))
    await writer.write(requestOf(tenant, spans))
    expect(await looked(writer, {})).toBe(300)
    expect(await looked(writer, { rootsOnly: true })).toBe(30)
    expect(await looked(writer, { terms: [termOf.tag('a'), termOf.tag('b')] })).toBe(3)
    expect(await looked(writer, { terms: [termOf.tag('a'), termOf.tag('c')] })).toBe(0)
  })
})

describe('the sweep', () => {
  it('deletes every row of a removed project', async () => {
    const writer = open()
    const file = { project: place.project, owner: place.id, ownerTrace: place.trace, name: 'f',
      type: 't', data: Uint8Array.of(1) }
    await writer.write({
      ...requestOf(tenant, [aPost(place, { block: 1n, indexed: 1, terms: [termOf.tag('a')] })]),
      files: [file],
    })
    await writer.putFeedback([{ place,
      row: { tenant, id: uuidOf(5, 1), span: place.id, trace: place.trace, project: place.project,
        key: 'k', score: 1, value: null, createdUs: 1, modifiedUs: 1, bodyJson: '{}' } }])
    const tables = ['span', 'posting', 'block', 'file', 'feedback', 'hour']
    expect(tables.map(rowsOf)).toEqual([1, 2, 1, 1, 1, 1])
    await writer.remove(tenant, { kind: 'project', project: place.project })
    await pass(5)
    expect(tables.map(rowsOf)).toEqual([0, 0, 0, 0, 0, 0])
    await writer.write(requestOf(tenant, [aPost(place, { block: 1n })]))
    expect(tables.map(rowsOf)).toEqual([0, 0, 0, 0, 0, 0])
  })

  it('deletes them also while writes never pause', async () => {
    const writer = open()
    await writer.write(requestOf(tenant, [aPost(place, { terms: [termOf.tag('a')], indexed: 1 })]))
    await writer.remove(tenant, { kind: 'project', project: place.project })
    const other = { ...newPlace(1), project: uuidOf(1, 1) }
    for (let second = 0; rowsOf('posting') > 0 && second < 30; second += 1) {
      const writing = writer.write(requestOf(tenant, [aPost(other)]))
      env.advance(1_000)
      await writing
    }
    expect(rowsOf('posting')).toBe(0)
  })

  it('deletes spans that arrived long enough ago, also after a restart', async () => {
    const { trace, startUs } = newPlace(0)
    const later = { ...newPlace(3600), trace, traceStartUs: startUs }
    // The one that arrived later began long before, and the other one will begin in a year.
    const spans = [aPost({ ...newPlace(0), startUs: startUs + 3e13 }, { block: 1n }),
      aPost({ ...later, startUs: startUs - 3e13 }, { block: 1n, arrivedUs: noonUs + 3600e6 })]
    await open().write({ ...requestOf(tenant, spans),
      timeToLiveS: new Map([[place.project, 3700]]) })
    await stores.pop()!.close()
    open()
    await scanned(stores[0]!, wholePlan(tenant))
    await pass(5)
    expect(rowsOf('span')).toBe(2)
    await pass(160)
    // The block of both is kept for the span that is left.
    expect(['span', 'block', 'hour'].map(rowsOf)).toEqual([1, 1, 1])
    const plan = { ...wholePlan(tenant), fromUs: 0 }
    expect((await scanned(stores[0]!, plan)).map(({ id }) => id)).toEqual([later.id])
    await pass(3_700)
    expect(['span', 'block', 'hour'].map(rowsOf)).toEqual([0, 0, 0])
  })

  it('keeps a span whose patch arrived later, and what came behind it goes', async () => {
    const writer = open()
    const spans = [0, 1, 2].map((index) => aPost(newPlace(index)))
    await writer.write({ ...requestOf(tenant, spans),
      timeToLiveS: new Map([[place.project, 3700]]) })
    const patch = { ...aPost(newPlace(0)), kind: 'patch' as const, arrivedUs: noonUs + 3600e6,
      fields: { ...noFields, endUs: noonUs } }
    await writer.write({ ...requestOf(tenant, [patch]),
      timeToLiveS: new Map([[place.project, 3700]]) })
    await pass(160)
    const left = await scanned(writer, wholePlan(tenant))
    expect(left).toMatchObject([{ id: newPlace(0).id, arrivedUs: noonUs + 3600e6 }])
  })

  it('names spans of what was removed, which it does not write', async () => {
    const writer = open()
    const [gone, kept] = [newPlace(1), newPlace(2)]
    await writer.write(requestOf(tenant, [aPost(gone)]))
    await writer.remove(tenant, { kind: 'traces', traces: [gone] })
    expect(await writer.write(requestOf(tenant, [aPost(gone), aPost(kept)])))
      .toMatchObject({ removed: [gone.id] })
    expect(await writer.write(requestOf(tenant, [aPost(kept)]))).toMatchObject({ removed: [] })
  })

  it('finishes the removal of a trace that a crash cut off', async () => {
    await open().write(requestOf(tenant, [aPost(place, { block: 1n })]))
    await stores.pop()!.close()
    const database = new DatabaseSync(join(directory, 'traces.db'))
    database.exec('INSERT INTO gone_trace SELECT trace, project, start_us, 1 FROM span')
    database.close()
    const writer = open()
    expect((await scanned(writer, wholePlan(tenant))).length).toBe(1)
    await pass(3)
    expect(['span', 'block', 'gone_trace WHERE pending = 1'].map(rowsOf)).toEqual([0, 0, 0])
    await writer.write(requestOf(tenant, [aPost(place)]))
    expect(rowsOf('span')).toBe(0)
  })

  it('removes what arrived first when the file is too large, and says so once', async () => {
    const writer = open('write', { diskBytes: 3_000_000 })
    for (let at = 0; at < 4_000; at += 500) {
      const spans = Array.from({ length: 500 }, (_, index) => aPost(newPlace(at + index)))
      await writer.write({ ...requestOf(tenant, spans), blocks: [] })
      const file = { project: place.project, owner: uuidOf(4, at), ownerTrace: uuidOf(4, at),
        name: 'f', type: 't', data: new Uint8Array(400_000) }
      await writer.write({ ...requestOf(tenant, []), files: [file] })
    }
    await pass(30)
    const left = await scanned(writer, { ...wholePlan(tenant), order: 'oldest' })
    expect(left.length).toBeLessThanOrEqual(3_500)
    expect(left.at(-1)?.id).toBe(newPlace(3_999).id)
    expect(env.lines.map(({ message }) => message))
      .toEqual(['Traces are removed, because traces.db would be too large.'])
    await writer.write(requestOf(tenant, [aPost(newPlace(4_000))]))
    expect((await scanned(writer, wholePlan(tenant)))[0]!.id).toBe(newPlace(4_000).id)
  })

  const holding = (of: string, index: number, bytes: number, startUs = newPlace(index).startUs) => {
    const at = { ...newPlace(index), tenant: of, startUs, traceStartUs: startUs }
    const block = { id: 1n, trace: at.trace, traceStartUs: startUs, data: new Uint8Array(bytes) }
    return { ...requestOf(of, [aPost(at, { block: 1n })]), blocks: [block] }
  }
  const idsOf = async (store: SpanStore, of: string) =>
    (await scanned(store, { ...wholePlan(of), order: 'oldest' })).map(({ id }) => id)

  it('takes room from the tenant that has most, whenever its spans say they began', async () => {
    const writer = open('write', { diskBytes: 3_000_000 })
    const removed: RemovedSpans[] = []
    writer.watchRemovals!((each) => removed.push(each))
    await writer.write(holding('small', 0, 100_000))
    // The first ones to arrive say that they begin last.
    for (let index = 1; index <= 40; index++) {
      await writer.write(holding('large', index, 200_000, noonUs + (100 - index) * 86_400e6))
      await pass(1)
    }
    await pass(5)
    expect(await idsOf(writer, 'small')).toEqual([newPlace(0).id])
    const left = (await idsOf(writer, 'large')).toReversed()
    expect(left.length).toBeGreaterThan(5)
    expect(left).toEqual(
      Array.from({ length: left.length }, (_, at) => newPlace(41 - left.length + at).id),
    )
    expect(removed.reduce((sum, { spans }) => sum + spans, 0)).toBe(40 - left.length)
    expect(new Set(removed.map(({ reason }) => reason))).toEqual(new Set(['disk']))
  })

  it('keeps each tenant to its quota, and counts what is deleted and written again', async () => {
    const writer = open('write', { tenantBytes: 1_000_000 })
    const removed = new Set<string>()
    writer.watchRemovals!(({ reason }) => removed.add(reason))
    for (let round = 0; round < 3; round++) {
      for (let index = 0; index < 4; index++) await writer.write(holding('a', index, 200_000))
      await writer.write(holding('b', 9, 200_000))
      await pass(3)
      expect([await idsOf(writer, 'a'), await idsOf(writer, 'b')].map((ids) => ids.length))
        .toEqual([4, 1])
    }
    expect(removed).toEqual(new Set())
    for (let index = 4; index < 8; index++) await writer.write(holding('a', index, 200_000))
    await pass(3)
    expect(await idsOf(writer, 'a')).toEqual([4, 5, 6, 7].map((index) => newPlace(index).id))
    expect(await idsOf(writer, 'b')).toHaveLength(1)
    expect(removed).toEqual(new Set(['tenant']))
  })

  it('estimates who has most in a file of a program that did not count', async () => {
    const writer = open()
    for (let index = 0; index < 40; index++) {
      await writer.write(holding(index === 20 ? 'small' : 'large', index, 500_000))
    }
    await stores.pop()!.close()
    const database = new DatabaseSync(join(directory, 'traces.db'))
    database.exec('DELETE FROM tenant_use')
    database.close()
    const later = open('write', { diskBytes: 10_000_000 })
    await later.write(holding('small', 50, 10))
    await pass(5)
    expect(await idsOf(later, 'small')).toHaveLength(2)
    expect((await idsOf(later, 'large')).length).toBeLessThan(20)
  })
})
