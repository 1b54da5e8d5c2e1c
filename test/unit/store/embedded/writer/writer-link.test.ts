/** The link to the writer thread: every request is answered, whatever happens there. */

import { Worker } from 'node:worker_threads'
import { describe, expect, it } from 'vitest'

import type { HeddleError } from '../../../../../src/errors.ts'
import { WriteAheadQueue } from '../../../../../src/store/embedded/durable/write-ahead-queue.ts'
import { WriterLink } from '../../../../../src/store/embedded/writer/writer-link.ts'
import { aBranch } from '../../../../contract/rows.ts'
import { virtualEnv } from '../../../../support/env.ts'

/** A writer that greets and then runs the script for each batch. */
function writer(script: string): Worker {
  return new Worker(`const { parentPort } = require('node:worker_threads')
    parentPort.postMessage({ epoch: 7, salt: 8, written: 2 })
    const hear = (batch, place, batches) => { ${script} }
    parentPort.on('message', (batches) => batches.forEach(hear))`, { eval: true })
}

const write = { kind: 'append', rows: [], updates: [] } as const

describe('the link to the writer', () => {
  it('sends the requests of one turn of the event loop as one batch', async () => {
    const link = await WriterLink.open(writer(`
      parentPort.postMessage(batch.writeIds.map((id) => ({ id })))
      const value = batch.writeIds.length
      parentPort.postMessage(batch.questions.map(({ id }) => ({ id, value })))
      if (batch.close) parentPort.close()`), virtualEnv())
    const writes = [link.write(write), link.write(write), link.write(write)]
    expect(await link.ask('unfinishedThreads')).toBe(3)
    await Promise.all(writes)
    expect(link.generation.epoch).toBe(7)
    await link.close()
  })

  it('rejects all waiting and later requests if the writer dies, and reports that', async () => {
    const env = virtualEnv()
    const reasons: string[] = []
    const link = await WriterLink.open(writer('throw new Error("dead")'), env,
      (reason) => reasons.push(reason))
    const waiting = [link.write(write), link.ask('tail', aBranch())]
    for (const each of waiting) await expect(each).rejects.toMatchObject({ code: 'unavailable' })
    await expect(link.write(write)).rejects.toMatchObject({ code: 'unavailable' })
    expect(env.lines).toMatchObject([{ level: 'error', details: { error: { message: 'dead' } } }])
    expect(reasons).toEqual(['The thread that writes the data directory has died.'])
    await link.close()
  })

  it('reports a writer that exits silently, and then rejects what waits', async () => {
    const env = virtualEnv()
    const received: string[] = []
    const link = await WriterLink.open(writer('process.exit()'), env, () => received.push('lost'))
    await link.write(write).catch(({ code }: HeddleError) => received.push(code))
    expect(received).toEqual(['lost', 'unavailable'])
    expect(env.lines.length).toBe(1)
  })

  it('fails to open if the writer does not start', async () => {
    const env = virtualEnv()
    const silent = new Worker('', { eval: true })
    await expect(WriterLink.open(silent, env)).rejects.toMatchObject({ code: 'unavailable' })
    const broken = new Worker('throw new Error("broken")', { eval: true })
    await expect(WriterLink.open(broken, env)).rejects.toThrow('broken')
  })

  it("rejects with the code, message, details and cause of the writer's error", async () => {
    const error = { code: 'stale_append', message: 'No.', details: { epoch: 3 }, cause: 'why' }
    const link = await WriterLink.open(writer(`if (batch.close) return parentPort.close()
      const error = ${JSON.stringify(error)}
      parentPort.postMessage(batch.writeIds.map((id) => ({ id, error })))`), virtualEnv())
    await expect(link.write(write)).rejects
      .toMatchObject({ code: 'stale_append', message: 'No.', details: { epoch: 3 }, cause: 'why' })
    await link.close()
  })
})

/** A write-ahead file and tails that note what they are asked. */
function noted({ takes = true } = {}) {
  const asked: string[] = []
  return { asked, place: { check: () => {} }, ahead: {
    hasRoom: () => true,
    append: () => asked.push('append') > 0,
    rewind: () => void asked.push('rewind'),
    close: () => {},
  }, tails: { expect: () => {}, takes: () => takes, note: () => void asked.push('note') } }
}

/** Answers the writes when it is asked something, and that with what it knew of each batch. */
const slow = `if (batch.close) return parentPort.close()
  globalThis.batches ??= []
  if (batch.writeIds.length > 0) globalThis.batches.push(batch)
  if (batch.questions.length === 0) return
  const ids = globalThis.batches.flatMap(({ writeIds }) => writeIds)
  parentPort.postMessage(ids.map((id) => ({ id })))
  const value = globalThis.batches.map(({ acknowledged, number }) => acknowledged + ' ' + number)
  globalThis.batches = []
  parentPort.postMessage(batch.questions.map(({ id }) => ({ id, value })))`

/** Says how many batches came in each message. */
const counting = `if (batch.close) return parentPort.close()
  globalThis.sizes ??= []
  if (place === 0) sizes.push(batches.length)
  parentPort.postMessage(batch.questions.map(({ id }) => ({ id, value: sizes })))`

describe('a write, with a write-ahead file', () => {
  const open = async (script = slow, takes = true) => {
    const env = virtualEnv()
    const link = await WriterLink.open(writer(script), env)
    const { asked, ...ahead } = noted({ takes })
    link.useQueue(new WriteAheadQueue(ahead, 2))
    return { link, asked, env }
  }

  it('that comes alone is acknowledged by the write-ahead file, without the writer', async () => {
    const { link, asked } = await open()
    await link.write(write)
    expect(asked).toEqual(['append', 'note'])
    expect(await link.ask('loadedShards')).toEqual(['true 3'])
    await link.write(write)
    expect(asked).toEqual(['append', 'note', 'append', 'note'])
    await link.close()
  })

  it('goes to the writer with others, beside others, or if it might be refused', async () => {
    for (const [count, takes] of [[2, true], [1, false]] as const) {
      const { link, asked } = await open(slow, takes)
      const writes = Array.from({ length: count }, () => link.write(write))
      await new Promise(setImmediate)
      writes.push(link.write(write))
      await new Promise(setImmediate)
      expect(asked).toEqual([])
      expect(await link.ask('loadedShards')).toEqual(['false 3', 'false 4'])
      await Promise.all(writes)
      // Everything is on disk in the database: the write-ahead file begins again.
      expect(asked.filter((what) => what === 'rewind').length).toBe(count + 1)
      await link.close()
    }
  })

  it.each([
    { what: 'with 15 others at once', count: 16, afterMs: 0, sizes: [16, 1] },
    { what: 'with those of 20 milliseconds', count: 3, afterMs: 20, sizes: [3, 1] },
    { what: 'with a question', count: 3, afterMs: 19, sizes: [4] },
  ])('that is acknowledged reaches the writer $what', async ({ count, afterMs, sizes }) => {
    const { link, asked, env } = await open(counting)
    for (let written = 0; written < count; written++) await link.write(write)
    expect(asked.filter((what) => what === 'append').length).toBe(count)
    env.advance(afterMs)
    expect(await link.ask('loadedShards')).toEqual(sizes)
    await link.close()
  })

  it('goes to the writer if 32 before it are only in the write-ahead file', async () => {
    const { link, asked } = await open()
    for (let written = 0; written < 32; written++) await link.write(write)
    const next = link.write(write)
    expect((await link.ask('loadedShards')).slice(-2)).toEqual(['true 34', 'false 35'])
    await next
    expect(asked.slice(-3)).toEqual(['note', 'note', 'rewind'])
    await link.close()
  })

  it('goes to the writer after one that failed, until one is done', async () => {
    const error = { code: 'unavailable', message: 'Full.', details: {} }
    const { link, asked } = await open(`if (batch.close) return parentPort.close()
      const fails = batch.number === 3
      parentPort.postMessage(batch.writeIds.map((id) =>
        ({ id, ...fails && { error: ${JSON.stringify(error)} } })))`)
    const two = [link.write(write), link.write(write)]
    for (const each of two) await expect(each).rejects.toThrow('Full.')
    await link.write(write)
    expect(asked).toEqual(['note', 'rewind'])
    await link.write(write)
    expect(asked).toEqual(['note', 'rewind', 'append', 'note'])
    await link.close()
  })

  it('that was acknowledged and is refused ends all: the write-ahead file still has it',
    async () => {
      const error = { code: 'stale_append', message: 'No.', details: {} }
      const { link, env } = await open(`parentPort.postMessage(
      batch.writeIds.map((id) => ({ id, error: ${JSON.stringify(error)} })))`)
      await link.write(write)
      await expect(link.ask('loadedShards')).rejects.toMatchObject({ code: 'unavailable' })
      await expect(link.write(write)).rejects.toMatchObject({ code: 'unavailable' })
      expect(env.lines).toMatchObject([{ level: 'error', details: { error: { message: 'No.' } } }])
      await link.close()
    })
})
