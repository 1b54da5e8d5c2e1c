/** Recorded calls in a store: who finds them, and that a removal holds for those that come late. */

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { afterAll, describe, expect, it } from 'vitest'

import { RecordingWriter } from '../../../../src/platform/ingest/recording-writer.ts'
import { hasRecordings, labelledRecordings,
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
    await writer.remove({ tenant: 'v', runs: ['r'] })
    expect(await found('v')).toEqual([])
    await writer.put(block(1, { tenant: 'v' }))
    await open().put(block(2, { tenant: 'v' }))
    expect(await found('v')).toEqual([])
    await writer.put(block(0, { tenant: 'v', runId: 'other' }))
    expect(await found('v', 'other')).toEqual(['block 0'])
  })

  it('removes all recordings of a deployment, and hides them from a later deployment', async () => {
    const [tenant, deployment] = ['x@shop', 'first']
    const label = (runId: string) => `label of ${runId}`
    for (const runId of ['one', 'two']) await writer.put(block(0, { tenant, deployment, runId }))
    await writer.put(
      block(1, { tenant, deployment, runId: 'one', startedAtMs: nowMs + 1, label: label('one') }),
    )
    await writer.put(block(0, { tenant: 'y@shop', deployment }))
    const shown = async (id: string, runs: readonly string[]) => {
      const of = { tenant, deployment: { id, createdAtMs: nowMs } }
      const blocks = await Promise.all(
        runs.map(async (runId) => (await recordedBlocks(store, { ...of, runId })).length),
      )
      const labels = await labelledRecordings(store, { ...of, fromMs: 0, limit: 9 })
      return [...blocks, labels.length, await hasRecordings(store, of)]
    }
    expect(await shown('first', ['one', 'two'])).toEqual([2, 1, 1, true])
    expect(await shown('second', ['one', 'two'])).toEqual([0, 0, 0, false])
    expect(await open().removeAll({ tenant, deployment })).toBe(2)
    expect(await writer.removeAll({ tenant, deployment })).toBe(0)
    // A process that hands over its last blocks, and another member.
    await writer.put(block(1, { tenant, deployment, runId: 'two', label: label('two') }))
    await open().put(block(0, { tenant, deployment, runId: 'three', label: label('three') }))
    expect(await shown('first', ['one', 'two', 'three'])).toEqual([0, 0, 0, 0, false])
    expect(await shown('second', ['one', 'two', 'three'])).toEqual([0, 0, 0, 0, false])
    await writer.put(block(0, { tenant, deployment: 'second', runId: 'three' }))
    expect(await shown('second', ['three'])).toEqual([1, 0, true])
    expect(await shown('first', ['three'])).toEqual([0, 0, false])
    expect(
      (await recordedBlocks(store, { tenant: 'y@shop', runId: 'r',
        deployment: { id: deployment, createdAtMs: nowMs } })).length,
    ).toBe(1)
  })

  it('assigns recordings stored by name to the deployment of their time', async () => {
    const tenant = 'old@shop'
    const first = { id: 'first', createdAtMs: nowMs }
    const second = { id: 'second', createdAtMs: nowMs + 100 }
    await writer.put(block(0, { tenant, runId: 'one', label: 'one' }))
    await writer.put(block(0, { tenant, runId: 'two', label: 'two' }))
    const read = async (deployment: typeof first, runId: string) => [
      (await recordedBlocks(store, { tenant, deployment, runId })).length,
      (await labelledRecordings(store, { tenant, deployment, fromMs: 0, limit: 9 })).length,
      await hasRecordings(store, { tenant, deployment }),
    ]
    expect(await read(first, 'one')).toEqual([1, 2, true])
    expect(await read(second, 'one')).toEqual([0, 0, false])
    await writer.remove({ tenant, deployment: 'first', runs: ['one'] })
    expect(await read(first, 'one')).toEqual([0, 1, true])
    expect(await writer.removeAll({ tenant, deployment: 'first' })).toBe(1)
    expect(await read(first, 'two')).toEqual([0, 0, false])
  })

  it('of a run that was removed before a tenant had any do not come', async () => {
    await writer.remove({ tenant: 'w', runs: ['r'] })
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
  await writer.remove({ tenant: 't', runs: ['a'] })
  await writer.remove({ tenant: 't', runs: ['b'] })
  expect(readings).toBe(1)
  await writer.put(block(0))
  await writer.remove({ tenant: 't', runs: ['r'] })
  expect(await recordedBlocks(store, { tenant: 't', runId: 'r' })).toEqual([])
  const shared = new RecordingWriter(counted, () => nowMs * 1_000)
  await shared.remove({ tenant: 'u', runs: ['a'] })
  await shared.remove({ tenant: 'u', runs: ['b'] })
  expect(readings).toBe(4)
})
