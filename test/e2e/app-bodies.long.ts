/** Bodies that are long, on their way to the app of a project and back: nothing gathers them. */

import { readFileSync } from 'node:fs'
import { request as send } from 'node:http'
import type { ClientRequest, IncomingMessage } from 'node:http'
import { json } from 'node:stream/consumers'

import { afterAll, beforeAll, describe, expect, it } from 'vitest'

import { useGates } from '../support/gate.ts'
import { repeats } from '../support/repeats.ts'
import { oneWorker, startServer } from '../support/server-process.ts'
import type { ServerProcess } from '../support/server-process.ts'
import { Bakery } from './whole/bakery.ts'

const secret = 'a secret of the bakery alone'
const gate = useGates()
let server: ServerProcess
let bakery: Bakery

const megabyte = 1_000_000
const piece = Buffer.alloc(megabyte)
/** Clients that send at the same time, each a body that is just short enough. */
const senders = repeats({ day: 20, night: 100 })
const each = 24
/** Megabytes of a body that is far too long, and of an answer, which nothing bounds. */
const long = repeats({ day: 500, night: 10_000 })
const answered = repeats({ day: 500, night: 2_000 })
/** Megabytes that a process may have more of bodies that wait: buffers of streams and sockets. */
const heldMax = 200
/** Megabytes by which a process may grow that gathers nothing: buffers, and what V8 frees late. */
const growthMax = 400

beforeAll(async () => {
  server = await startServer({ project: 'whole', args: oneWorker, env: { BAKERY_SECRET: secret } })
  bakery = new Bakery([{ url: server.url }], secret)
  expect(await bakery.ask(0, 'alice', { method: 'GET', path: '/bakery/user' }))
    .toMatchObject({ status: 200 })
})
afterAll(() => server?.close())

/** Resident megabytes of the server's process, in which its app is, from Linux. */
function residentMb(): number {
  const status = readFileSync(`/proc/${server.pid}/status`, 'utf8')
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)![1]) / 1_024
}

/** A body under way. */
interface Sending {
  /** Megabytes that have left. */
  readonly sent: () => number
  readonly answer: Promise<IncomingMessage>
  /** Resolves when all is sent, or the server has cut it. */
  readonly closed: Promise<unknown>
}

/** Sends pieces without a length, as fast as they are taken, until all are sent or it is cut. */
function sendPieces(path: string, pieces: number): Sending {
  let sent = 0
  const { promise: answer, resolve, reject } = Promise.withResolvers<IncomingMessage>()
  const request: ClientRequest = send(server.url + path, { method: 'POST', agent: false,
    headers: { ...bakery.headersOf('alice'), 'content-type': 'application/octet-stream' } },
    resolve)
  const more = () => {
    while (sent < pieces) {
      sent += 1
      if (!request.write(piece)) return void request.once('drain', more)
    }
    request.end()
  }
  // After the answer the server may cut what is still being sent.
  request.once('error', reject)
  const closed = new Promise((done) => request.once('close', done))
  more()
  return { sent: () => sent, answer, closed }
}

/** The most that the process had meanwhile, above what it had before. */
async function growthOf(work: () => Promise<void>): Promise<number> {
  const before = residentMb()
  let most = before
  const look = setInterval(() => {
    most = Math.max(most, residentMb())
  }, 20)
  try {
    await work()
  } finally {
    clearInterval(look)
  }
  return Math.max(most, residentMb()) - before
}

describe.runIf(process.platform === 'linux')('a long body', () => {
  it('waits at its sender while the app reads nothing', async () => {
    const hold = gate()
    const path = `/bakery/wait?url=${encodeURIComponent(hold.url)}`
    let held = residentMb()
    const grown = await growthOf(async () => {
      const sendings = Array.from({ length: senders }, () => sendPieces(path, each))
      await hold.arrived(senders)
      // None goes on any more: what is taken lies in the sockets of the system.
      let before = -1
      await expect.poll(() => {
        const [last, now] = [before, sendings.reduce((sum, { sent }) => sum + sent(), 0)]
        before = now
        return now - last
      }, { interval: 500 }).toBe(0)
      expect(before).toBeLessThan(senders * each)
      held = residentMb() - held
      hold.open()
      for (const { answer } of sendings) {
        expect(await json(await answer)).toEqual({ bytes: each * megabyte })
      }
    })
    console.log(
      `grown by ${held.toFixed(0)} MB for ${senders * each} MB that nobody reads, and by ` +
        `${grown.toFixed(0)} MB while they are read`,
    )
    expect(held).toBeLessThan(heldMax)
  })

  it('that has no end is refused at its bound, however much follows', async () => {
    const grown = await growthOf(async () => {
      const hold = gate()
      hold.open()
      const paths = ['/bakery/sign', '/bakery/echo',
        `/bakery/wait?url=${encodeURIComponent(hold.url)}`]
      for (const path of paths) {
        const { answer, closed } = sendPieces(path, long)
        const { statusCode } = (await answer).resume()
        await closed
        // One that is echoed has begun when its bound comes.
        if (path === '/bakery/echo') expect(statusCode).toBeOneOf([200, 413])
        else expect([path, statusCode]).toEqual([path, 413])
      }
      const { statusCode } = await bakery.open(0, 'alice', { method: 'POST', path: '/bakery/sign',
        headers: { 'content-length': String(10_000 * megabyte) } })
      expect(statusCode).toBe(413)
    })
    console.log(`grown by ${grown.toFixed(0)} MB for ${long} MB, three times`)
    expect(grown).toBeLessThan(growthMax)
  })

  it('of an answer comes whole, and is made as fast as it is read', async () => {
    const grown = await growthOf(async () => {
      const path = `/bakery/pieces?count=${answered}`
      // These read nothing for as long as another one reads all.
      const idle = await Promise.all(
        Array.from({ length: 10 }, () => bakery.open(0, 'alice', { method: 'GET', path })),
      )
      const answer = await bakery.open(0, 'alice', { method: 'GET', path })
      let bytes = 0
      for await (const chunk of answer) bytes += (chunk as Buffer).length
      expect(bytes).toBe(answered * megabyte)
      for (const left of idle) left.destroy()
    })
    console.log(`grown by ${grown.toFixed(0)} MB for ${answered} MB`)
    expect(grown).toBeLessThan(growthMax)
  })
})
