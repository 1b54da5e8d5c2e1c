/** What the tasks of a run say of its subgraphs: when they start, and how they end. */

import { describe, expect, it } from 'vitest'

import { SubgraphLifecycle } from '../../../../src/graph/events/subgraph-lifecycle.ts'

function watched() {
  const events: [string, Record<string, unknown>][] = []
  const lifecycle = new SubgraphLifecycle((name, payload) => {
    events.push([name, payload as Record<string, unknown>])
  })
  const shown = () => events.map(([name, { event }]) => `${name.split('|').slice(1)} ${event}`)
  return { events, lifecycle, shown }
}

const starts = { id: '1', name: 'node', input: {}, triggers: [], interrupts: [] }

describe('the lifecycle of subgraphs', () => {
  it('says nothing of the root and of nodes without a graph', () => {
    const { lifecycle, shown } = watched()
    lifecycle.task([], { id: 'a', name: 'plain', input: {} })
    lifecycle.task([], { id: 'a', name: 'plain', result: {}, interrupts: [] })
    lifecycle.close('completed')
    expect(shown()).toEqual([])
  })

  it('begins those around a subgraph first, and ends those within it first', () => {
    const { lifecycle, shown } = watched()
    lifecycle.task(['sub:a', 'deep:b'], starts)
    lifecycle.task(['sub:a', 'deep:b'], starts)
    lifecycle.task([], { id: 'a', name: 'sub', result: {}, interrupts: [] })
    expect(shown()).toEqual(['sub:a started', 'sub:a,deep:b started', 'sub:a,deep:b completed',
      'sub:a completed'])
  })

  it('ends only the subgraph of the task that ends', () => {
    const { lifecycle, shown } = watched()
    for (const id of ['a', 'b']) lifecycle.task([`sub:${id}`], starts)
    lifecycle.task([], { id: 'b', name: 'sub', result: {}, interrupts: [{ value: '?' }] })
    expect(shown()).toEqual(['sub:a started', 'sub:b started', 'sub:b interrupted'])
  })

  it('says why a subgraph failed: by its task, or by the run', () => {
    const { events, lifecycle } = watched()
    for (const id of ['a', 'b']) lifecycle.task([`sub:${id}`], starts)
    lifecycle.task([], { id: 'a', name: 'sub', error: 'no luck', interrupts: [] })
    lifecycle.close({ error: 'TypeError', message: 'no way' })
    expect(events.slice(2)).toEqual([
      ['lifecycle|sub:a', { event: 'failed', namespace: ['sub:a'],
        error: { error: 'Error', message: 'no luck' } }],
      ['lifecycle|sub:b', { event: 'failed', namespace: ['sub:b'],
        error: { error: 'TypeError', message: 'no way' } }],
    ])
  })

  it('names the tool call that started a subgraph', () => {
    const { events, lifecycle } = watched()
    lifecycle.task([], { id: 'a', name: 'tools',
      input: { __type: 'tool_call_with_context', tool_call: { id: 'call_1' } } })
    lifecycle.task(['tools:a'], starts)
    lifecycle.close('completed')
    expect(events.map(([, { tool_call_id: id }]) => id)).toEqual(['call_1', 'call_1'])
  })
})
