/** Ends of runs as clients for Python get them. */

import { describe, expect, it } from 'vitest'

import { eventReader } from '../../../../src/frontdoor/protocol-v2/event-reader.ts'
import { threadEvent } from '../fake-threads.ts'

const openedAtMs = 100_000
const python = 'langgraph-sdk-py/0.4.14'
const waiting = { channels: ['lifecycle', 'input'] }

const rootAt = (timestampMs: number, data: object) =>
  threadEvent(timestampMs, { method: 'lifecycle', timestampMs, data: JSON.stringify(data) })
const cut = (timestampMs: number, reason = 'cancelled') =>
  rootAt(timestampMs, { event: 'interrupted', graph_name: 'agent', reason })

const shown = (events: ReturnType<typeof rootAt>[],
  { channels = waiting.channels, since, agent = python }: { channels?: string[]; since?: number;
    agent?: string } = {}) => {
  const reader = eventReader(agent, openedAtMs)
  reader.asks({ channels, since })
  return reader.shown(events).map(({ data }) => JSON.parse(data) as Record<string, unknown>)
}

const phases = (...args: Parameters<typeof shown>) => shown(...args).map(({ event }) => event)

describe('a client for Python', () => {
  it('gets a cancelled run as failed, with the reason', () => {
    expect(shown([cut(openedAtMs)])).toEqual([{ event: 'failed', graph_name: 'agent',
      reason: 'cancelled', error: 'The run was cancelled.' }])
    expect(phases([cut(openedAtMs, 'rolled_back')])).toEqual(['failed'])
    expect(phases([cut(openedAtMs)], { agent: 'Python/3.11 websockets/17.4' })).toEqual(['failed'])
  })

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

it('Other clients get events as they are.', () => {
  for (const agent of ['node', 'Mozilla/5.0', 'my-langgraph-sdk-py/1', '']) {
    expect(phases([cut(openedAtMs), cut(openedAtMs, 'breakpoint')], { agent }))
      .toEqual(['interrupted', 'interrupted'])
  }
})

it('Subgraphs and other methods are left alone.', () => {
  const { data } = cut(openedAtMs)
  const events = [threadEvent(1, { method: 'lifecycle', namespace: ['sub:1'], data }),
    threadEvent(2, { method: 'custom', data })]
  expect(eventReader(python, 0).shown(events)).toBe(events)
})
