/** Frames between a server and a graph process. */

import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import type { AddressInfo, Socket } from 'node:net'

import { describe, expect, it, onTestFinished, vi } from 'vitest'

import { Wire } from '../../../src/graph/wire.ts'

async function wires() {
  const server = createServer()
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const near = connect((server.address() as AddressInfo).port, '127.0.0.1')
  const [far] = await once(server, 'connection') as [Socket]
  onTestFinished(() => {
    near.destroy()
    far.destroy()
    server.close()
  })
  const mails: unknown[] = []
  const broken = vi.fn()
  const other = new Wire<unknown, unknown>(far, { mail: (mail) => void mails.push(mail), broken })
  const wire = new Wire<unknown, unknown>(near, { mail: () => {}, broken: () => {} })
  return { near, wire, other, mails, broken }
}

describe('a wire', () => {
  it('brings messages in order, also large ones', async () => {
    const { wire, mails } = await wires()
    const sent = [1, 'x'.repeat(3_000_000), { a: new Map([[1, undefined]]) }, null]
    for (const mail of sent) wire.send(mail)
    await expect.poll(() => mails).toEqual(sent)
  })

  it('brings bytes that own their memory', async () => {
    const { wire, mails } = await wires()
    wire.send(Buffer.from('abc'))
    await expect.poll(() => mails).toEqual([new Uint8Array([97, 98, 99])])
    expect((mails[0] as Uint8Array).buffer.byteLength).toBe(3)
  })

  it('sends what nobody waits for with the next message', async () => {
    const { near, wire, mails } = await wires()
    wire.sendAlong('along')
    await new Promise(setImmediate)
    expect(near.bytesWritten).toBe(0)
    wire.send('next')
    await expect.poll(() => mails).toEqual(['along', 'next'])
  })

  it.each([
    ['too long', Buffer.from([255, 255, 255, 255])],
    ['no value', Buffer.from([3, 0, 0, 0, 1, 2, 3])],
    ['no list', Buffer.from([4, 0, 0, 0, 255, 15, 73, 2])],
  ])('says once that a frame is %s', async (_, bytes) => {
    const { near, broken } = await wires()
    near.write(bytes)
    await expect.poll(() => broken.mock.calls.length).toBe(1)
  })
})
