/** Answers that the query thread makes: they take room until they are read. */

import { expect, it, onTestFinished } from 'vitest'

import type { Platform } from '../../../../src/platform/index.ts'
import { dial } from '../../../support/wire.ts'
import { openDoor } from '../open-front-door.ts'

const megabyte = 1024 * 1024

const project = '11111111-1111-4111-8111-111111111111'
/** More than the buffers of a connection take. */
const characters = 12 * megabyte
const page = Buffer.from(`{"items":["${'x'.repeat(characters)}",\n1\r]}`)

function openWith(patienceMs: number) {
  const platform = {
    projects: { get: () => Promise.resolve([]) },
    query: { runs: () => Promise.resolve(Buffer.from(page)) },
    close: () => Promise.resolve(),
  } as unknown as Platform
  return openDoor({ platform, unread: { patienceMs } })
}

it.each(['application/json', 'text/event-stream'])(
  'A client that does not read its %s is cut off, and its room is free again.',
  async (accept) => {
    const door = await openWith(200)
    const socket = await dial(door.url)
    onTestFinished(() => void socket.destroy())
    const body = JSON.stringify({ project_ids: [project] })
    socket.pause().write('POST /api/v2/runs/query HTTP/1.1\r\nhost: localhost\r\n' +
      `accept: ${accept}\r\ncontent-type: application/json\r\n` +
      `content-length: ${body.length}\r\n\r\n${body}`)
    await expect.poll(() => door.reads.stats.bytes).toBeGreaterThanOrEqual(characters)
    await expect.poll(() => door.stats().requests).toBe(0)
    expect(door.reads.stats.bytes).toBe(0)
  },
)

it('A long page comes whole as an event.', async () => {
  const door = await openWith(60_000)
  const response = await fetch(`${door.url}/api/v2/runs/query`, { method: 'POST',
    headers: { accept: 'text/event-stream', 'content-type': 'application/json' },
    body: JSON.stringify({ project_ids: [project] }) })
  const [data, end] = (await response.text()).split('\n\n')
  expect(data === `event: data\ndata: ${page.toString().replaceAll(/[\r\n]/g, ' ')}`).toBe(true)
  expect(end).toBe('event: end\ndata: {}')
})
