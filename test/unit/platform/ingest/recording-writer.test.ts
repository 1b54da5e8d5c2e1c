/** Recorded calls in a store: who finds them, and that a removal holds for those that come late. */

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { afterAll, describe, expect, it } from 'vitest'

import { RecordingWriter } from '../../../../src/platform/ingest/recording-writer.ts'
import { labelledRecordings,
  recordedBlocks } from '../../../../src/platform/query/recorded-blocks.ts'
import { openSpanStore } from '../../../../src/store/embedded/platform/open.ts'
import { memorySpans } from '../../../support/memory-spans.ts'

/** Old ones would be removed for their age. */
const nowMs = Date.now()

const block = (no: number, changes: object = {}) => ({ tenant: 't', runId: 'r', startedAtMs: nowMs,
  no, body: Buffer.from(`block ${no}`), timeToLiveS: 86_400, ...changes })

const directory = mkdtempSync(join(tmpdir(), 'heddle-recordings-'))
const file = await openSpanStore({ directory, diskBytes: 64 * 1024 * 1024 }, 'write')
afterAll(async () => {
  await file.close()
  rmSync(directory, { recursive: true })
})

describe.each([['memory', memorySpans()], ['a file', file]])('recordings in %s', (_, store) => {
  let nowUs = nowMs * 1_000
  const open = () => new RecordingWriter(store, () => nowUs++)
  const writer = open()
  const found = async (tenant: string, runId = 'r') =>
    (await recordedBlocks(store, { tenant, runId })).map((each) => Buffer.from(each).toString())
      .toSorted()

  it('are found with all blocks of all executions, by their tenant alone', async () => {
    await writer.put(block(0))
    await writer.put(block(1))
    await writer.put(block(0, { startedAtMs: nowMs + 1, body: Buffer.from('later') }))
    await writer.put(block(0, { runId: 'other' }))
    expect(await found('t')).toEqual(['block 0', 'block 1', 'later'])
    expect((await recordedBlocks(store, { tenant: 't', runId: 'r', limit: 1 })).length).toBe(1)
    expect([await found('u'), await found('t', 'none')]).toEqual([[], []])
  })

  it('are gone once removed: a late block revives nothing, also of another member', async () => {
    await writer.put(block(0, { tenant: 'v' }))
    await writer.remove('v', ['r'])
    expect(await found('v')).toEqual([])
    await writer.put(block(1, { tenant: 'v' }))
    await open().put(block(2, { tenant: 'v' }))
    expect(await found('v')).toEqual([])
    await writer.put(block(0, { tenant: 'v', runId: 'other' }))
    expect(await found('v', 'other')).toEqual(['block 0'])
  })

  it('of a tenant are removed all at once, and later runs are recorded', async () => {
    for (const runId of ['one', 'two']) await writer.put(block(0, { tenant: 'x', runId }))
    await writer.put(block(1, { tenant: 'x', runId: 'one', startedAtMs: nowMs + 1, label: 'l' }))
    await writer.put(block(0, { tenant: 'y' }))
    expect(await open().removeAll('x')).toBe(2)
    expect(await writer.removeAll('x')).toBe(0)
    const listed = await labelledRecordings(store, { tenant: 'x', fromMs: 0, limit: 9 })
    expect([await found('x', 'one'), await found('x', 'two'), listed]).toEqual([[], [], []])
    expect(await found('y')).toEqual(['block 0'])
    await writer.put(block(0, { tenant: 'x', runId: 'three' }))
    expect(await found('x', 'three')).toEqual(['block 0'])
  })

  it('of a run that was removed before a tenant had any do not come', async () => {
    await writer.remove('w', ['r'])
    await writer.put(block(0, { tenant: 'w' }))
    expect(await found('w')).toEqual([])
  })
})

it('A tenant that has never recorded is asked about once, where nobody else writes.', async () => {
  const store = memorySpans()
  let readings = 0
  const counted = { write: store.write.bind(store), remove: store.remove.bind(store),
    scan: store.scan.bind(store), hours: (...asked: Parameters<typeof store.hours>) => {
      readings++
      return store.hours(...asked)
    } }
  const writer = new RecordingWriter(counted, () => nowMs * 1_000, true)
  await writer.remove('t', ['a'])
  await writer.remove('t', ['b'])
  expect(readings).toBe(1)
  await writer.put(block(0))
  await writer.remove('t', ['r'])
  expect(await recordedBlocks(store, { tenant: 't', runId: 'r' })).toEqual([])
  const shared = new RecordingWriter(counted, () => nowMs * 1_000)
  await shared.remove('u', ['a'])
  await shared.remove('u', ['b'])
  expect(readings).toBe(4)
})
