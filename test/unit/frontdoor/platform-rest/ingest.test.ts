/** Operations that there is no room for are refused before they are received. */

import { request } from 'node:http'
import { once } from 'node:events'
import { expect, it } from 'vitest'

import type { Platform } from '../../../../src/platform/index.ts'
import { openDoor } from '../open-front-door.ts'

const mebibyte = 1024 * 1024

it('A body for which there is no room is answered before it is sent.', async () => {
  const taken = Promise.withResolvers<void>()
  let bodies = 0
  const ingest = async () => {
    if (++bodies === 2) taken.resolve()
    return new Promise<never>(() => {})
  }
  const door = await openDoor({
    platform: { ingest: { ingest }, close: async () => {} } as unknown as Platform,
  })
  const post = (bytes: number) =>
    request(`${door.url}/api/v1/runs/batch`, { method: 'POST',
      headers: { 'content-type': 'application/json', 'content-length': bytes } })
  const long = [post(24 * mebibyte), post(24 * mebibyte)]
  for (const each of long) {
    each.on('error', () => {})
    each.end(Buffer.alloc(24 * mebibyte))
  }
  await taken.promise
  const more = post(mebibyte)
  more.flushHeaders()
  const [answer] = await once(more, 'response')
  expect(answer.statusCode).toBe(429)
  const closing = request(`${door.url}/api/v1/runs/batch`, { method: 'POST', agent: false,
    headers: { 'content-type': 'application/json', 'content-length': 24 * mebibyte } })
  closing.end(Buffer.alloc(24 * mebibyte))
  const [last] = await once(closing, 'response')
  expect(last.statusCode).toBe(429)
  expect(closing.writableFinished).toBe(true)
  for (const each of [more, ...long]) each.destroy()
})
