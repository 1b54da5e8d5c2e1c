/** Reads of a thread that is deleted, or passes on, before they are through: none answers half. */

import { describe, expect, it } from 'vitest'

import { aRun, settled } from '../../support/thread-house.ts'
import { ThreadPair } from '../../support/thread-pair.ts'

const history = { checkpointId: null, checkpointNs: '', before: null, limit: 100, metadata: null }

const answerOf = (checkpointId: string) =>
  ({ checkpointId, valuesOf: '', values: '{}', json: '{"next":[]}' })

/** A thread of some steps, whose history waits in the midst of being read. */
async function reading() {
  const read = Promise.withResolvers<void>()
  const begun = Promise.withResolvers<void>()
  const pair = new ThreadPair((host) => {
    host.ask = async (_graph, _thread, question, source) => {
      if (question.kind !== 'history') throw new Error('a history is asked for')
      begun.resolve()
      await read.promise
      const { ns, before, limit, filter } = question
      const page = await source.list({ ns, checkpointId: null, before, limit, filter })
      return page.map(({ id }) => answerOf(id))
    }
  })
  await pair.client.startRun('t', 'x', aRun('r'))
  for (const text of ['one', 'two']) await pair.host.step(pair.host.only, text)
  pair.host.end(pair.host.only)
  await settled()
  const answer = pair.client.history('t', 'x', history).catch((error: unknown) => error)
  await begun.promise
  return { pair, answer, readOn: read.resolve }
}

describe('a history that is being read', () => {
  it('is that of its thread as it was, where nothing happens', async () => {
    const { answer, readOn } = await reading()
    readOn()
    expect(JSON.parse(await answer as string)).toHaveLength(2)
  })

  it('is not found where its thread is deleted meanwhile', async () => {
    const { pair, answer, readOn } = await reading()
    await pair.client.delete('t', 'x')
    readOn()
    expect(await answer).toMatchObject({ code: 'not_found' })
  })

  it('is not that of the next thread of its name', async () => {
    const { pair, answer, readOn } = await reading()
    await pair.client.delete('t', 'x')
    await pair.client.startRun('t', 'x', aRun('next'))
    readOn()
    expect(await answer).toMatchObject({ code: 'not_found' })
  })

  it('is read by whoever owns its thread next', async () => {
    const { pair, answer, readOn } = await reading()
    await pair.handOver()
    await pair.client.delete('t', 'x')
    readOn()
    expect(await answer).toMatchObject({ code: 'not_found' })
  })
})

describe('a history whose pages are rolled back as soon as they are read', () => {
  it('is to be asked for again, and keeps nobody busy', async () => {
    let asked = 0
    const pair = new ThreadPair((host) => {
      host.ask = async (_graph, _thread, question) => {
        asked++
        if (question.kind !== 'history' || question.before !== null) return []
        return Array.from({ length: question.limit }, (_, i) => answerOf(`gone ${i}`))
      }
    })
    await pair.client.startRun('t', 'x', aRun('r'))
    await pair.host.step(pair.host.only, 'one')
    const inbound = pair.inbound.ask({ kind: 'thread', tenant: 't', id: 'x' },
      { type: 'history', query: history })
    await expect(inbound).rejects.toMatchObject({ code: 'unavailable' })
    expect(asked).toBe(10)
  })
})
