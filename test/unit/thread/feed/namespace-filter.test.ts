/** Which events belong to a namespace: subgraphs do, subagents do not. */

import { describe, expect, it } from 'vitest'

import { onlyIn } from '../../../../src/thread/feed/namespace-filter.ts'

const names = ['metadata', 'values', 'updates|sub:1', 'values|sub:1|deep:2', 'messages|model:3',
  'messages|tools:4', 'messages|tools:4|model:5', 'values|tools:4', 'tools|tools:4',
  'custom|task:6', 'values|tools:4|inner:7', 'values|tools:4|tools:8', 'messages/partial', 'error',
  'end']

function passed(...namespaces: string[]): string[] {
  const seen: string[] = []
  const listener = onlyIn(namespaces, { ended: () => {}, events: (batch) => {
    seen.push(...batch.map(({ name }) => name))
  } })
  for (const name of names) listener.events([{ id: '1.1', name, json: '{}' }])
  return seen.filter((name) => !['metadata', 'error', 'end'].includes(name))
}

describe('a stream of some namespaces', () => {
  it('has the root with its subgraphs, and what its tools say, without subagents', () => {
    expect(passed('')).toEqual(['values', 'updates|sub:1', 'values|sub:1|deep:2',
      'messages|model:3', 'messages|tools:4', 'tools|tools:4', 'messages/partial'])
  })

  it('has a subagent that is named, without those that it starts', () => {
    expect(passed('tools:4')).toEqual(['messages|tools:4|model:5', 'values|tools:4',
      'values|tools:4|inner:7'])
  })

  it('has all that are named', () => {
    expect(passed('sub:1', 'task:6')).toEqual(['updates|sub:1', 'values|sub:1|deep:2',
      'custom|task:6'])
  })

  it('has nothing of a namespace that does not exist, and of none', () => {
    expect(passed('sub')).toEqual([])
    expect(passed()).toEqual([])
  })
})
