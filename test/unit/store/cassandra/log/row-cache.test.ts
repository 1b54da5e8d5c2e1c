/** Rows and places that a member knows: bounded by bytes, and never those of another writer. */

import { describe, expect, it } from 'vitest'

import { RowCache } from '../../../../../src/store/cassandra/log/row-cache.ts'

const limitBytes = 1_000_000
const writer = { settledSeq: 9 }

function row(seq: number, bytes = 1_000, epoch = 1, placed: readonly string[] = []) {
  return { tenant: 't', branch: { id: 'b', ancestors: [] }, epoch, seq, prevEpoch: 0,
    body: new Uint8Array(bytes), places: placed.map((id) => ({ id, seq, base: seq })) }
}

/** The newest row that was read when the branch got its writer. */
const stored = (
  seq: number,
) => [{ ...row(seq, 10), settledSeq: 0, bucket: 0, bucketBytes: 0, ranges: undefined, chunks: 0 }]
const slice = (from: number, through: number, epoch = 1) => ({ epoch, bucket: 0, from, through })
const seqs = (cache: RowCache, id: string, ...range: [number, number, number?]) =>
  cache.rows(id, slice(...range))?.map(({ seq }) => seq)

describe('rows', () => {
  it('are bounded by bytes over all branches, and the newest use stays', () => {
    const cache = new RowCache(limitBytes)
    for (let branch = 0; branch < 300; branch++) {
      cache.settled(`${branch}`, writer, row(1, 100_000))
      cache.rows('0', slice(1, 1))
      expect(cache.stats.bytes).toBeLessThanOrEqual(limitBytes)
    }
    expect(cache.stats.bytes).toBeGreaterThan(limitBytes / 2)
    expect(seqs(cache, '0', 1, 1)).toEqual([1])
    expect(seqs(cache, '299', 1, 1)).toEqual([1])
    expect(seqs(cache, '150', 1, 1)).toBeUndefined()
  })

  it('of one branch fill a quarter, and its newest stay', () => {
    const cache = new RowCache(limitBytes)
    for (let seq = 1; seq <= 1_000; seq++) cache.settled('b', writer, row(seq))
    expect(cache.stats.bytes).toBeLessThanOrEqual(limitBytes / 4 + 1_000)
    expect(seqs(cache, 'b', 900, 1_000)).toHaveLength(101)
    expect(seqs(cache, 'b', 1, 1)).toBeUndefined()
    cache.settled('b', writer, row(1_001, limitBytes))
    expect(cache.stats.bytes).toBeLessThan(limitBytes / 4)
  })

  it('are kept without a gap: older ones join them, and those before a gap go', () => {
    const cache = new RowCache(limitBytes)
    cache.settled('b', writer, row(5))
    cache.addRead('b', [row(3), row(4), row(5)])
    cache.addRead('b', [row(1)])
    expect(seqs(cache, 'b', 3, 5)).toEqual([3, 4, 5])
    expect(seqs(cache, 'b', 1, 1)).toBeUndefined()
    cache.addRead('b', [row(8)])
    expect(seqs(cache, 'b', 8, 8)).toEqual([8])
    expect(seqs(cache, 'b', 3, 5)).toBeUndefined()
  })

  it('of another epoch than the branch names are not answered', () => {
    const cache = new RowCache(limitBytes)
    cache.settled('b', writer, row(1))
    expect(seqs(cache, 'b', 1, 1, 2)).toBeUndefined()
    expect(cache.stats).toMatchObject({ hits: 0, misses: 1 })
  })

  it.for([10, 60_000])('retain nothing of their response but a body of %i bytes', (bytes) => {
    const cache = new RowCache(limitBytes)
    const bodyOf = () => new Uint8Array(100_000).subarray(0, bytes)
    cache.addRead('read', [{ epoch: 1, seq: 1, body: bodyOf() }])
    cache.begin('opened', writer, [{ ...stored(1)[0]!, body: bodyOf() }])
    cache.settled('written', writer, { ...row(1), body: bodyOf() })
    for (const id of ['read', 'opened', 'written']) {
      expect(cache.rows(id, slice(1, 1))![0]!.body.buffer.byteLength).toBe(bytes)
    }
  })

  it('are none in a cache without room', () => {
    const cache = new RowCache(0)
    cache.begin('b', writer, undefined)
    cache.settled('b', writer, row(1, 1_000, 1, ['c']))
    expect(seqs(cache, 'b', 1, 1)).toBeUndefined()
    expect(cache.stats.bytes).toBeLessThan(2_000)
  })
})

describe('places', () => {
  const at = (seq: number) => ({ place: { id: 'c', seq, base: seq } })

  it('are all known of a branch that began here, and those of its newest rows', () => {
    const cache = new RowCache(limitBytes)
    cache.begin('b', writer, undefined)
    expect(cache.placeNow('b', writer, 'c')).toEqual({ place: undefined })
    for (const seq of [1, 2]) {
      cache.settled('b', writer, row(seq, 10, 1, ['c']))
      expect(cache.placeNow('b', writer, 'c')).toEqual(at(seq))
    }
  })

  it('end with their writer, and with everything', () => {
    const cache = new RowCache(limitBytes)
    cache.begin('b', writer, undefined)
    cache.settled('b', writer, row(1, 10, 1, ['c']))
    const next = { settledSeq: 6 }
    cache.begin('b', next, stored(6))
    expect(cache.placeNow('b', next, 'c')).toHaveProperty('learn')
    expect(cache.placeNow('b', writer, 'c')).toHaveProperty('learn')
    cache.begin('b', writer, undefined)
    cache.clear()
    expect(cache.placeNow('b', writer, 'c')).toHaveProperty('learn')
    expect(seqs(cache, 'b', 1, 1)).toBeUndefined()
  })

  it('that are found late replace no newer ones, nor come back after they were forgotten', () => {
    const cache = new RowCache(limitBytes)
    cache.begin('b', writer, stored(6))
    const [first, second] = [cache.placeNow('b', writer, 'c'), cache.placeNow('b', writer, 'd')]
    cache.settled('b', writer, row(7, 10, 1, ['c']))
    if ('learn' in first) first.learn(at(3).place)
    expect(cache.placeNow('b', writer, 'c')).toEqual(at(7))
    cache.forget('b')
    if ('learn' in second) second.learn(at(3).place)
    expect(cache.placeNow('b', writer, 'd')).toHaveProperty('learn')
  })

  it('whose names fill the part of a branch go', () => {
    const cache = new RowCache(limitBytes)
    cache.begin('b', writer, stored(6))
    for (let i = 0; i < 100; i++) {
      const known = cache.placeNow('b', writer, `${i}`.padEnd(10_000))
      if ('learn' in known) known.learn(undefined)
      expect(cache.stats.bytes).toBeLessThanOrEqual(limitBytes / 2)
    }
  })

  it('as of a fork point are those of that point', () => {
    const cache = new RowCache(limitBytes)
    const known = cache.placeAt('b', 5, 'c')
    if ('learn' in known) known.learn(at(3).place)
    expect(cache.placeAt('b', 5, 'c')).toEqual(at(3))
    expect(cache.placeAt('b', 6, 'c')).toHaveProperty('learn')
  })
})

describe('parts up to fork points', () => {
  const line = (id: string, through: number, ranges = 1) => ({ id, from: 1, through,
    ranges: Array.from({ length: ranges }, (_, i) => ({ epoch: i + 1, bucket: 0, from: i + 1 })) })

  it('are bounded by bytes, however many fork points one branch has', () => {
    const cache = new RowCache(limitBytes)
    for (let through = 1; through <= 10_000; through++) {
      cache.addLine(line('b', through, 10))
      expect(cache.stats.bytes).toBeLessThanOrEqual(limitBytes / 4 + 1_000)
    }
    expect(cache.lineAt('b', 10_000)).toEqual(line('b', 10_000, 10))
    expect(cache.lineAt('b', 1)).toBeUndefined()
  })

  it('are bounded by bytes over all branches, and are released with their branch', () => {
    const cache = new RowCache(limitBytes)
    for (let i = 0; i < 2_000; i++) cache.addLine(line(`${i}`, 5))
    expect(cache.stats.bytes).toBeLessThanOrEqual(limitBytes)
    expect([cache.lineAt('0', 5), cache.lineAt('1999', 5)])
      .toEqual([undefined, line('1999', 5)])
    cache.clear()
    expect([cache.lineAt('1999', 5), cache.stats.bytes]).toEqual([undefined, 0])
  })

  it('are forgotten alone if they have to be read again', () => {
    const cache = new RowCache(limitBytes)
    cache.settled('b', writer, row(1))
    const { bytes } = cache.stats
    cache.addLine(line('b', 1))
    cache.addLine(line('b', 1))
    cache.forgetLines('b')
    expect([cache.lineAt('b', 1), cache.stats.bytes]).toEqual([undefined, bytes])
    expect(seqs(cache, 'b', 1, 1)).toEqual([1])
  })
})
