/** What a worker remembers of threads between executions. */

import { describe, expect, it } from 'vitest'

import { PendingWrites } from '../../../../src/graph/state/pending-writes.ts'
import { KnownChannels } from '../../../../src/graph/state/state-delta.ts'
import { ThreadMemories } from '../../../../src/graph/state/thread-memory.ts'
import type { LiveCheckpoint, ThreadMemory } from '../../../../src/graph/state/thread-memory.ts'

function checkpoint(id: string, fullBytes = 0): LiveCheckpoint {
  return { id, parentId: '', metadata: { source: 'loop', step: 0, parents: {} }, fullBytes,
    skeleton: { v: 4, ts: '', channel_versions: {}, versions_seen: {} }, deltaBytes: 0,
    channels: new KnownChannels(), writes: new PendingWrites() }
}

function memory(id: string, fullBytes = 0): ThreadMemory {
  return { newest: new Map([['', checkpoint(id, fullBytes)], ['sub:1', checkpoint('s')]]),
    empty: false }
}

describe('ThreadMemories', () => {
  it('returns the named head once, without its subgraphs', () => {
    const memories = new ThreadMemories({ threads: 2, bytes: 1e6 })
    memories.keep('t', memory('head'))
    expect([...memories.take('t', 'head').newest.keys()]).toEqual([''])
    expect(memories.take('t', 'head').newest.size).toBe(0)
  })

  it('forgets a head that is no longer the head', () => {
    const memories = new ThreadMemories({ threads: 2, bytes: 1e6 })
    memories.keep('t', memory('head'))
    expect(memories.take('t', 'other').newest.size).toBe(0)
    memories.keep('t', memory('head'))
    expect(memories.take('t', null)).toEqual({ newest: new Map(), empty: true })
  })

  it('returns nothing unless its execution wrote the newest steps', () => {
    const memories = new ThreadMemories({ threads: 2, bytes: 1e6 })
    for (const [last, size] of [[7, 1], [8, 0], [null, 0]] as const) {
      memories.keep('t', memory('head'), 7)
      expect(memories.take('t', 'head', last).newest.size).toBe(size)
    }
  })

  it('forgets the least recently used beyond a number of threads', () => {
    const memories = new ThreadMemories({ threads: 2, bytes: 1e6 })
    for (const thread of ['a', 'b', 'c']) memories.keep(thread, memory('head'))
    expect(memories.take('a', 'head').newest.size).toBe(0)
    expect(memories.take('b', 'head').newest.size).toBe(1)
  })

  it('forgets the least recently used beyond a size, and any that is larger', () => {
    const memories = new ThreadMemories({ threads: 100, bytes: 100_000 })
    memories.keep('a', memory('head', 20_000))
    memories.keep('b', memory('head', 20_000))
    expect(memories.take('a', 'head').newest.size).toBe(0)
    expect(memories.take('b', 'head').newest.size).toBe(1)
    memories.keep('huge', memory('head', 1_000_000))
    expect(memories.take('huge', 'head').newest.size).toBe(0)
  })
})
