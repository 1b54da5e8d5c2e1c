/** What a run shows while it goes on, from the events of its stream. */

import { describe, expect, it } from 'vitest'

import type { StreamEvent } from '../../../src/studio/api/event-stream.ts'
import { after, begun } from '../../../src/studio/live/live-run.ts'
import type { LiveRun } from '../../../src/studio/live/live-run.ts'

const event = (name: string, data: unknown, atMs = 0): StreamEvent => ({ event: name,
  id: name === 'metadata' ? JSON.stringify(data) : '', text: JSON.stringify(data), atMs })

const task = (name: string, what: string, ...path: readonly string[]) =>
  event(['tasks-lean', ...path].join('|'), { event: what, id: `${name}-id`, name })

const said = (id: string, content: string) =>
  event('messages', [{ id, type: 'AIMessageChunk', content }, { langgraph_node: 'model' }])

/** A run after events that come one a second. */
function played(...events: readonly StreamEvent[]): LiveRun {
  return events.reduce((run, each, at) => after(run, each, at * 1_000), begun('r', 0))
}

const states = ({ nodes }: LiveRun) =>
  Object.fromEntries(Object.entries(nodes).map(([id, { state }]) => [id, state]))

describe('a live run', () => {
  it('has nodes of subgraphs by their place in the picture', () => {
    const run = played(task('research', 'started'), task('plan', 'started', 'research:6f1e'),
      task('plan', 'completed', 'research:6f1e'))
    expect(states(run)).toEqual({ 'research': 'running', 'research:plan': 'done' })
    expect(run.nodes['research:plan']).toMatchObject({ times: 1, startedMs: 1_000, endedMs: 2_000 })
    expect(run.last).toBe('research:plan')
  })

  it('counts parallel tasks of one node', () => {
    const run = played(task('shout', 'started'), task('shout', 'started'),
      task('shout', 'completed'))
    expect(run.nodes['shout']).toMatchObject({ times: 2 })
  })

  it('shows what waits and what failed', () => {
    const run = played(task('ask', 'started'), task('ask', 'interrupted'), task('boom', 'started'),
      task('boom', 'failed'), event('error', { error: 'TypeError', message: 'no' }))
    expect(states(run)).toEqual({ ask: 'waiting', boom: 'failed' })
    expect(run.error).toEqual({ error: 'TypeError', message: 'no' })
  })

  it('joins the pieces of a message, and keeps others apart', () => {
    const run = played(said('1', 'Hel'), said('2', 'other'), said('1', 'lo'))
    expect([...run.messages.values()].map(({ content }) => content)).toEqual(['Hello', 'other'])
  })

  it('shows nothing twice when another server begins again', () => {
    const run = played(event('metadata', { run_id: 'r', attempt: 1 }), task('model', 'started'),
      said('1', 'half'), event('metadata', { run_id: 'r', attempt: 2 }))
    expect(run.attempt).toBe(2)
    expect(run.messages.size).toBe(0)
    expect(states(run)).toEqual({ model: 'next' })
    const again = [task('model', 'started'), said('3', 'whole')]
      .reduce((each, next) => after(each, next, null), run)
    expect(again.nodes['model']).toMatchObject({ state: 'running', times: 2, startedMs: null })
    expect([...again.messages.keys()]).toEqual(['3'])
  })

  it('stays the same for events of other modes, and for a repeated start', () => {
    const run = played(event('metadata', { run_id: 'r', attempt: 1 }))
    expect(after(run, event('custom', { any: 1 }), 0)).toBe(run)
    expect(after(run, event('metadata', { run_id: 'r', attempt: 1 }), 0)).toBe(run)
  })
})
