/** Answers that are larger than what a door holds, and clients that wait for the server's word. */

import { request } from 'node:http'

import { afterAll, beforeAll, describe, expect, it } from 'vitest'

import { heldBytesMax } from '../../../../src/graph/calls/answer-relay.ts'
import type { CallGate } from '../../../../src/graph/calls/call-gate.ts'
import { callingThrough } from '../../../../src/graph/calls/call-scope.ts'
import { openDoors } from '../../../../src/graph/calls/doors.ts'
import type { CallingClient } from '../../../support/call-clients.ts'
import { answeringGate, keepingGate } from '../../../support/call-recorder.ts'
import type { KeptCall } from '../../../support/call-recorder.ts'
import { openCallStub } from '../../../support/call-stub.ts'
import type { CallStub } from '../../../support/call-stub.ts'

const size = 32 * 1024 * 1024
let stub: CallStub
let close = () => {}
let clients: Readonly<Record<string, CallingClient>> = {}

beforeAll(async () => {
  close = await openDoors(() => false)
  clients = (await import('../../../support/call-clients.ts')).callClients
  stub = await openCallStub()
})
afterAll(() => {
  close()
  stub.close()
})

describe.each(['fetch', 'undici.request', 'http.request'])('%s', (name) => {
  const ask = () => clients[name]!(`${stub.url}/large`)

  it('gets 32 MB through a door, and from what was kept', async () => {
    const kept: KeptCall[] = []
    const first = await callingThrough(keepingGate(kept), ask)
    expect(Buffer.concat(kept[0]!.chunks).byteLength).toBe(size)
    const before = stub.hits()
    const again = await callingThrough(answeringGate(kept), ask)
    expect(again.text === first.text).toBe(true)
    expect(stub.hits()).toBe(before)
  })

  it('gets the beginning of an answer that is larger than what is held', async () => {
    let bytes = 0
    const released = Promise.withResolvers<void>()
    const gate: CallGate = { decide: () => ({ kind: 'pass', watcher: {
      holds: 'answer',
      chunk: (chunk) => {
        bytes += chunk.byteLength
        // The client reads on before the end is released: nobody holds 32 MB.
        if (bytes === size) released.resolve()
      },
      ended: () => released.promise,
    } }) }
    const got = await callingThrough(gate, ask)
    expect(bytes).toBe(size)
    expect(bytes).toBeGreaterThan(heldBytesMax)
    expect(got.status).toBe(200)
  })
})

it('A body that waits for the server is not read before it is sent.', async () => {
  const kept: KeptCall[] = []
  const text = await callingThrough(keepingGate(kept), () => {
    const { promise, resolve, reject } = Promise.withResolvers<string>()
    const sent = request(`${stub.url}/echo`, { method: 'POST',
      headers: { expect: '100-continue', 'content-type': 'text/plain' } })
    sent.on('continue', () => sent.end('at last')).on('error', reject)
    sent.on('response', (response) => {
      let got = ''
      response.on('data', (chunk: Buffer) => {
        got += chunk.toString()
      }).on('end', () => resolve(got))
    })
    sent.flushHeaders()
    return promise
  })
  expect(text).toBe('at last')
  expect(kept[0]).toMatchObject({ body: undefined, end: { kind: 'done' } })
  expect(Buffer.concat(kept[0]!.sent).toString()).toBe('at last')
})
