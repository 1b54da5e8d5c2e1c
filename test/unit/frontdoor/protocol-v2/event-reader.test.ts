/** Ends of runs as clients for Python get them. */

import type { IncomingHttpHeaders } from 'node:http'
import { describe, expect, it } from 'vitest'

import { eventReader } from '../../../../src/frontdoor/protocol-v2/event-reader.ts'
import { threadEvent } from '../fake-threads.ts'

const openedAtMs = 100_000
const python = { 'user-agent': 'langgraph-sdk-py/0.4.14' }
const waiting = { channels: ['lifecycle', 'input'] }

const rootAt = (timestampMs: number, data: object) =>
  threadEvent(timestampMs, { method: 'lifecycle', timestampMs, data: JSON.stringify(data) })
const cut = (timestampMs: number, reason = 'cancelled') =>
  rootAt(timestampMs, { event: 'interrupted', graph_name: 'agent', reason })

const shown = (events: ReturnType<typeof rootAt>[],
  { channels = waiting.channels, since, headers = python }: { channels?: string[]; since?: number;
    headers?: IncomingHttpHeaders } = {}) => {
  const reader = eventReader(headers, openedAtMs)
  reader.asks({ channels, since })
  return reader.shown(events).map(({ data }) => JSON.parse(data) as Record<string, unknown>)
}

const phases = (...args: Parameters<typeof shown>) => shown(...args).map(({ event }) => event)

describe('a client that is not in JavaScript', () => {
  it('gets a cancelled run as failed, with the reason', () => {
    expect(shown([cut(openedAtMs)])).toEqual([{ event: 'failed', graph_name: 'agent',
      reason: 'cancelled', error: 'The run was cancelled.' }])
    expect(phases([cut(openedAtMs, 'rolled_back')])).toEqual(['failed'])
  })

  it.each(['Python/3.11 websockets/17.4', 'python-httpx/0.28.1', 'aiohttp/3.12', 'acme-crm/2.1',
    'my-node-tool/1', 'curl/8.5.0', 'Go-http-client/2.0', undefined])(
      'is any client whose agent is no runtime of JavaScript: %s',
      (agent) => {
        const headers = agent === undefined ? {} : { 'user-agent': agent }
        expect(phases([cut(openedAtMs)], { headers })).toEqual(['failed'])
      },
    )

  it('waits for the run that took the place of another', () => {
    expect(phases([cut(openedAtMs, 'superseded')])).toEqual(['interrupted'])
    expect(phases([cut(openedAtMs), rootAt(openedAtMs, { event: 'running' })]))
      .toEqual(['interrupted', 'running'])
  })

  it('waits for its own run, not for one that was cancelled long before', () => {
    const before = [cut(openedAtMs - 5_000)]
    expect(phases(before)).toEqual(['interrupted'])
    expect(phases(before, { since: 7 })).toEqual(['failed'])
    // These channels are asked for once the run has begun.
    expect(phases(before, { channels: ['values', 'lifecycle'] })).toEqual(['failed'])
    // The client may be slower than the cancel.
    expect(phases([cut(openedAtMs - 100)])).toEqual(['failed'])
  })

  it('gets a run at a breakpoint as complete, and waits while one asks', () => {
    expect(phases([cut(openedAtMs - 5_000, 'breakpoint')])).toEqual(['completed'])
    expect(phases([rootAt(openedAtMs, { event: 'interrupted' })])).toEqual(['interrupted'])
  })
})

it.each([
  { 'user-agent': 'node' },
  { 'user-agent': 'undici' },
  { 'user-agent': 'Mozilla/5.0 (X11; Linux x86_64) Firefox/140.0' },
  { 'user-agent': 'Bun/1.3.0' },
  { 'user-agent': 'Deno/2.5.1' },
  { 'user-agent': 'okhttp/4.12.0' },
  { 'user-agent': 'Acme/3 CFNetwork/3826.500.131 Darwin/24.5.0' },
  { 'user-agent': 'acme-crm/2.1', 'sec-fetch-mode': 'cors' },
  { 'sec-fetch-mode': 'websocket' },
])('A client in JavaScript gets events as they are: %j', (headers) => {
  expect(phases([cut(openedAtMs), cut(openedAtMs, 'breakpoint')], { headers }))
    .toEqual(['interrupted', 'interrupted'])
})

it('Subgraphs and other methods are left alone.', () => {
  const { data } = cut(openedAtMs)
  const events = [threadEvent(1, { method: 'lifecycle', namespace: ['sub:1'], data }),
    threadEvent(2, { method: 'custom', data })]
  expect(eventReader(python, 0).shown(events)).toBe(events)
})
