/** The doors, seen from the clients that pass them. */

import { Readable } from 'node:stream'

import { afterAll, beforeAll, describe, expect, it } from 'vitest'

import type { CallDecision, CallGate, HeldPart } from '../../../../src/graph/calls/call-gate.ts'
import { callingThrough } from '../../../../src/graph/calls/call-scope.ts'
import { openDoors } from '../../../../src/graph/calls/doors.ts'
import type { Asked, CallingClient, Got } from '../../../support/call-clients.ts'
import { answeringGate, keepingGate } from '../../../support/call-recorder.ts'
import type { KeptCall } from '../../../support/call-recorder.ts'
import { openCallStub } from '../../../support/call-stub.ts'
import type { CallStub } from '../../../support/call-stub.ts'

let stub: CallStub
let close = () => {}
let clients: Readonly<Record<string, CallingClient>> = {}

beforeAll(async () => {
  close = await openDoors((url) => url.includes('left-out'))
  // A copy of undici is seen when it is loaded.
  clients = (await import('../../../support/call-clients.ts')).callClients
  stub = await openCallStub()
})
afterAll(() => {
  close()
  stub.close()
})

type Result = Got | { readonly failed: true }

async function resultOf(work: Promise<Got>): Promise<Result> {
  return work.catch(() => ({ failed: true }))
}

/** Asks without a gate, with one that keeps, and with one that answers. */
async function thrice(client: CallingClient, path: string, asked: () => Asked = () => ({}),
  holds: HeldPart = 'nothing'
): Promise<
  { plain: Result; first: Result; again: Result; hits: number; sent: Buffer; kept: KeptCall[] }
> {
  const url = `${stub.url}${path}`
  const plain = await resultOf(client(url, asked()))
  const kept: KeptCall[] = []
  const first = await resultOf(
    callingThrough(keepingGate(kept, { holds }), () => client(url, asked())),
  )
  const [before, sent] = [stub.hits(), stub.sent()]
  const again = await resultOf(callingThrough(answeringGate(kept), () => client(url, asked())))
  return { plain, first, again, hits: stub.hits() - before, sent, kept }
}

const names = ['fetch', 'fetch with an agent of its own', 'undici.fetch', 'undici.request',
  'an agent that retries', 'http.request', 'http.request without an agent',
  'http.request with an agent of its own']

describe.each(names)('%s', (name) => {
  const client: CallingClient = (url, asked) => clients[name]!(url, asked)

  it.each(['/plain', '/gzip', '/brotli', '/nothing', '/unchanged', '/failed', '/pieces'])(
    'is kept byte for byte and answered without a request: %s',
    async (path) => {
      const { plain, first, again, hits, sent, kept } = await thrice(client, path)
      expect(first).toEqual(plain)
      expect(again).toEqual(plain)
      expect(hits).toBe(0)
      expect(kept).toHaveLength(1)
      expect(Buffer.concat(kept[0]!.chunks).equals(sent)).toBe(true)
      expect(kept[0]!.end).toEqual({ kind: 'done' })
      expect(kept[0]!.call).toMatchObject({ method: 'GET', url: `${stub.url}${path}` })
    },
  )

  it('has no body for HEAD', async () => {
    const { plain, first, again, hits } = await thrice(client, '/gzip', () => ({ method: 'HEAD' }))
    expect([first, again, hits]).toEqual([plain, plain, 0])
  })

  it('makes a call of each redirect that it follows', async () => {
    const { plain, first, again, hits, kept } = await thrice(client, '/moved')
    expect([first, again, hits]).toEqual([plain, plain, 0])
    expect(kept.length).toBe(name.includes('fetch') ? 2 : 1)
  })

  it.each(['text', 'stream'])('sends a %s that was read before', async (form) => {
    const asked = () => ({ method: 'POST', headers: { 'content-type': 'text/plain' },
      body: form === 'text'
        ? 'a and b'
        : Readable.from([Buffer.from('a and'), Buffer.from(' b')]) })
    const { plain, first, again, hits, kept } = await thrice(client, '/echo', asked)
    expect(plain).toMatchObject({ text: 'a and b' })
    expect([first, again, hits]).toEqual([plain, plain, 0])
    expect(kept[0]!.body?.toString()).toBe('a and b')
    expect(Buffer.concat(kept[0]!.sent).toString()).toBe('a and b')
  })

  it.each(['/reset', '/cut'])('fails as before, and fails when answered: %s', async (path) => {
    const { plain, first, again, hits, kept } = await thrice(client, path)
    expect([plain, first, again, hits]).toEqual([{ failed: true }, { failed: true }, {
      failed: true,
    }, 0])
    expect(kept.at(-1)!.end).toMatchObject({ kind: 'failed', mayHaveLeft: true })
    expect(Buffer.concat(kept.at(-1)!.chunks).toString()).toBe(path === '/cut' ? 'only this' : '')
  })

  it('says that nothing was sent where there is no connection', async () => {
    const kept: KeptCall[] = []
    const gone = await openCallStub()
    gone.close()
    const ask = () => client(`${gone.url}/plain`)
    await expect(callingThrough(keepingGate(kept), ask)).rejects.toThrow()
    expect(kept[0]!.end).toMatchObject({ kind: 'failed', mayHaveLeft: false })
  })

  it('ends a call that its client gives up in the middle', async () => {
    const kept: KeptCall[] = []
    const abort = new AbortController()
    const keeping = keepingGate(kept)
    const asking = callingThrough(keeping,
      () => client(`${stub.url}/endless`, { signal: abort.signal }))
    await expect.poll(() => kept[0]?.chunks.length, { interval: 5 }).toBe(1)
    abort.abort()
    await expect(asking).rejects.toThrow(/abort/i)
    await expect.poll(() => kept[0]?.end, { interval: 5 })
      .toEqual({ kind: 'cancelled', mayHaveLeft: true })
  })

  it('can be given up while nothing is decided', async () => {
    const before = stub.hits()
    const abort = new AbortController()
    const decision = Promise.withResolvers<CallDecision>()
    const asking = callingThrough({ decide: () => decision.promise },
      () => client(`${stub.url}/plain`, { signal: abort.signal }))
    setImmediate(() => abort.abort())
    await expect(asking).rejects.toThrow()
    const end = Promise.withResolvers<unknown>()
    decision.resolve({ kind: 'pass', watcher: { ended: (how) => end.resolve(how) } })
    expect(await end.promise).toEqual({ kind: 'cancelled', mayHaveLeft: false })
    expect(stub.hits()).toBe(before)
  })

  it.each(['end', 'answer'] as const)('gets the %s when its watcher is done', async (holds) => {
    const { plain, first } = await thrice(client, '/gzip', undefined, holds)
    expect(first).toEqual(plain)
    const released = Promise.withResolvers<void>()
    const ended = Promise.withResolvers<void>()
    let isThere = false
    const gate: CallGate = { decide: () => ({ kind: 'pass', watcher: { holds, ended: () => {
      ended.resolve()
      return released.promise
    } } }) }
    const asking = callingThrough(gate, () => client(`${stub.url}/gzip`)).then((got) => {
      isThere = true
      return got
    })
    await ended.promise
    // A client that has all of it needs a few turns to say so.
    for (let turn = 0; turn < 200; turn++) await new Promise(setImmediate)
    expect(isThere).toBe(false)
    released.resolve()
    expect(await asking).toEqual(plain)
  })

  it.each(['end', 'answer'] as const)('fails if what holds its %s fails', async (holds) => {
    const gate: CallGate = { decide: () => ({ kind: 'pass', watcher: { holds, ended: async () => {
      throw new Error('no longer the owner')
    } } }) }
    await expect(callingThrough(gate, () => client(`${stub.url}/plain`))).rejects.toThrow()
  })

  it('has the headers that a gate sets, and fails with the error of a gate', async () => {
    const gate: CallGate = {
      decide: () => ({ kind: 'pass', headers: { 'x-key': 'k1', 'content-type': 'text/html' } }),
    }
    const asked = { method: 'POST', body: 'x', headers: { 'content-type': 'text/plain' } }
    expect(await callingThrough(gate, () => client(`${stub.url}/echo`, asked)))
      .toMatchObject({ type: 'text/html', text: 'x' })
    const before = stub.hits()
    const refusing: CallGate = { decide: () => {
      throw new Error('stopped here')
    } }
    const error: unknown = await callingThrough(refusing, () => client(`${stub.url}/plain`))
      .catch((thrown: unknown) => thrown)
    expect([String(error), String((error as Error).cause)].join()).toContain('stopped here')
    expect(stub.hits()).toBe(before)
  })

  it('is nobody’s business outside of a job, and at an address that is left out', async () => {
    const kept: KeptCall[] = []
    await client(`${stub.url}/plain`)
    await callingThrough(keepingGate(kept), () => client(`${stub.url}/left-out`))
    expect(kept).toEqual([])
  })
})
