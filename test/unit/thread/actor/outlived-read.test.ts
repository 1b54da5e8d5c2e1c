/** Reads during which the thread is deleted or moves: none gives a partial or foreign answer. */

import { describe, expect, it } from 'vitest'

import { historyText } from '../../../support/history-text.ts'
import { aRun, settled } from '../../../support/thread-house.ts'
import { ThreadPair } from '../../../support/thread-pair.ts'

const history = { checkpointId: null, checkpointNs: '', before: null, limit: 100, metadata: null }

const answerOf = (checkpointId: string) => ({ checkpointId, valuesOf: '', values: '{}',
  json: '{"next":[]}' })

/** A thread with some steps, and a read of its history that is held until `readOn`. */
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
  const answer = historyText(pair.client.history('t', 'x', history))
    .catch((error: unknown) => error)
  await begun.promise
  return { pair, answer, readOn: read.resolve }
}

describe('a history that is being read', () => {
  it('is answered in full if nothing happens meanwhile', async () => {
    const { answer, readOn } = await reading()
    readOn()
    expect(JSON.parse(await answer as string)).toHaveLength(2)
  })

  it('is answered with not_found if its thread is deleted meanwhile', async () => {
    const { pair, answer, readOn } = await reading()
    await pair.client.delete('t', 'x')
    readOn()
    expect(await answer).toMatchObject({ code: 'not_found' })
  })

  it('never answers with the next thread of the same id', async () => {
    const { pair, answer, readOn } = await reading()
    await pair.client.delete('t', 'x')
    await pair.client.startRun('t', 'x', aRun('next'))
    readOn()
    expect(await answer).toMatchObject({ code: 'not_found' })
  })

  it('is read again at the next owner if its thread moves meanwhile', async () => {
    const { pair, answer, readOn } = await reading()
    await pair.handOver()
    await pair.client.delete('t', 'x')
    readOn()
    expect(await answer).toMatchObject({ code: 'not_found' })
  })
})

describe('a history whose pages are always rolled back once they are read', () => {
  it('is answered as retryable after a bounded number of tries', async () => {
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
    const inbound = pair.inbound.ask({ kind: 'thread', tenant: 't', id: 'x' }, { type: 'history',
      query: history })
    await expect(inbound).rejects.toMatchObject({ code: 'unavailable' })
    expect(asked).toBe(10)
  })
})
