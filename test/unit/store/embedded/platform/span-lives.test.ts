/** Ends of life in the rows of spans: of writes, of changes of a project, of earlier programs. */

import { afterEach, beforeEach, expect, it } from 'vitest'

import type { SpanStore } from '../../../../../src/platform/index.ts'
import { writeFeedback } from '../../../../../src/platform/ingest/feedback-write.ts'
import { RecordingWriter } from '../../../../../src/platform/ingest/recording-writer.ts'
import { recordedBlocks } from '../../../../../src/platform/query/recorded-blocks.ts'
import { aPost, requestOf } from '../../../../contract/span-histories.ts'
import { dayMs, TraceHouse } from './trace-house.ts'

let house: TraceHouse
beforeEach(() => {
  house = new TraceHouse()
})
afterEach(() => house.close())

const [short, long] = [14 * 86_400, 400 * 86_400]
const project = () => house.place(0).project
const idsOf = (...indexes: readonly number[]) => indexes.map((index) => house.place(index).id)

/** Writes one span for each index, which arrives now. */
async function write(store: SpanStore, indexes: readonly number[], lifeS?: number): Promise<void> {
  await store.write({
    ...requestOf(house.tenant,
      indexes.map((index) => aPost(house.place(index), { arrivedUs: house.nowUs }))),
    timeToLiveS: lifeS === undefined ? new Map() : new Map([[project(), lifeS]]),
  })
}

/** Lets days and some rounds of the removal go by. */
async function days(count: number): Promise<void> {
  house.env.advance(count * dayMs)
  await house.pass(130)
}

it('keeps spans of a project whose life became longer, without a later span', async () => {
  const store = house.open()
  await write(store, [1], short)
  await store.changeLife(house.tenant, project(), long)
  await days(15)
  expect(await house.idsIn(store)).toEqual(idsOf(1))
  await days(386)
  expect(await house.idsIn(store)).toEqual([])
})

it('deletes by the shorter life at once when the life of a project became shorter', async () => {
  const store = house.open()
  await write(store, [1], long)
  await days(20)
  await write(store, [2], long)
  await store.changeLife(house.tenant, project(), short)
  await house.pass(70)
  expect(await house.idsIn(store)).toEqual(idsOf(2))
})

it('deletes ended spans behind many spans that arrived first and live longer', async () => {
  const store = house.open()
  await write(store, Array.from({ length: 300 }, (_, index) => index), long)
  const ended = house.place(900, 1)
  await store.write({
    ...requestOf(house.tenant, [aPost(ended, { arrivedUs: house.nowUs })]),
    timeToLiveS: new Map([[ended.project, short]]),
  })
  await days(15)
  expect(await store.locate(house.tenant, [ended.id])).toEqual([])
  expect(await store.locate(house.tenant, idsOf(0, 299))).toHaveLength(2)
})

it('changes many spans in slices and continues after a restart, also behind their end',
  async () => {
    const store = house.open()
    const indexes = Array.from({ length: 700 }, (_, index) => index)
    await write(store, indexes, short)
    await store.changeLife(house.tenant, project(), long)
    await store.close()
    house.env.advance(15 * dayMs)
    const next = house.open()
    await write(next, [900], long)
    await house.pass(1)
    expect(house.execute('SELECT count(*) AS count FROM life_change')).toEqual([{ count: 1 }])
    await house.pass(130)
    expect(house.execute('SELECT count(*) AS count FROM life_change')).toEqual([{ count: 0 }])
    expect((await house.idsIn(next)).length).toBe(701)
  })

it('ignores the former life in a request that started before a change', async () => {
  const store = house.open()
  await write(store, [1], short)
  await store.changeLife(house.tenant, project(), long)
  await write(store, [2], short)
  await days(15)
  expect((await house.idsIn(store)).toSorted()).toEqual(idsOf(1, 2))
})

it('takes another life from a later write, because a change may have been cut off', async () => {
  const store = house.open()
  await write(store, [1], short)
  await days(1)
  await write(store, [2], long)
  await days(15)
  expect((await house.idsIn(store)).toSorted()).toEqual(idsOf(1, 2))
})

it('deletes spans that reached their end behind hundreds that arrived under a clock ahead',
  async () => {
    const store = house.open()
    const ahead = Array.from({ length: 300 },
      (_, index) => aPost(house.place(index), { arrivedUs: house.nowUs + 365 * dayMs * 1_000 }))
    await store.write({ ...requestOf(house.tenant, ahead),
      timeToLiveS: new Map([[project(), short]]) })
    await write(store, [900, 901], short)
    await days(15)
    expect(await house.idsIn(store)).toEqual([])
  })

it('keeps each recording for the days that its own deployment had, whichever came last',
  async () => {
    const store = house.open()
    let no = 0
    const writer = new RecordingWriter(store, () => house.nowUs + no++, true)
    const record = (runId: string, recordDays: number) =>
      writer.put({ tenant: house.tenant, runId, startedAtMs: house.env.nowMs(), no: 0,
        body: Buffer.from('a'), label: 'x', timeToLiveS: recordDays * 86_400 })
    const has = async (runId: string) =>
      (await recordedBlocks(store, { tenant: house.tenant, runId })).length > 0
    await record('long', 365)
    await record('short', 1)
    await record('long again', 365)
    await days(2)
    expect([await has('long'), await has('short'), await has('long again')])
      .toEqual([true, false, true])
    await record('short again', 1)
    await days(100)
    expect([await has('long'), await has('short again')]).toEqual([true, false])
  })

it('deletes feedback whose span has not come for 400 days', async () => {
  const store = house.open()
  const { id: span } = house.place(1)
  await writeFeedback(store, [{ tenant: house.tenant, id: house.place(7).id, span, trace: null,
    project: null, key: 'k', score: 1, value: null, createdUs: 0, modifiedUs: house.nowUs,
    bodyJson: '{}' }])
  await days(399)
  const listed = () => store.listFeedback({ tenant: house.tenant, limit: 9, offset: 0 })
  expect(await listed()).toHaveLength(1)
  await days(2)
  expect(await listed()).toEqual([])
})

it('gives an end to rows of a program that does not write one, from their arrival', async () => {
  const store = house.open()
  await write(store, [1], short)
  await days(10)
  await write(store, [2], short)
  house.execute('UPDATE span SET expires_min = NULL')
  await days(5)
  expect(await house.idsIn(store)).toEqual(idsOf(2))
  expect(house.execute('SELECT count(*) AS count FROM span WHERE expires_min IS NULL'))
    .toEqual([{ count: 0 }])
})
