/** Several gates behind one door. */

import { describe, expect, it } from 'vitest'

import type { Call, CallEnd } from '../../../../src/graph/calls/call.ts'
import type { CallDecision, CallGate } from '../../../../src/graph/calls/call-gate.ts'
import { composedGate } from '../../../../src/graph/calls/composed-gate.ts'

const call: Call = { id: 1, client: 'fetch', method: 'GET', url: 'http://shop.test/', headers: [],
  body: { length: 0, read: async () => new Uint8Array() }, site: undefined }

const gate = (decision: CallDecision): CallGate => ({ decide: () => decision })

describe('a composed gate', () => {
  it('is none without gates, and the gate itself for one', () => {
    const one = gate({ kind: 'hold' })
    expect(composedGate([])).toBeUndefined()
    expect(composedGate([one])).toBe(one)
  })

  it('answers at once where its gates do', () => {
    const both = composedGate([gate({ kind: 'pass' }), gate({ kind: 'hold' })])!
    expect(both.decide(call)).toEqual({ kind: 'hold' })
  })

  it('joins headers, of which the later gate has the last word', () => {
    const both = composedGate([gate({ kind: 'pass', headers: { a: '1', b: '1' } }),
      gate({ kind: 'pass', headers: { b: null } })])!
    expect(both.decide(call)).toEqual({ kind: 'pass', headers: { a: '1', b: null } })
  })

  it('asks no gate behind one that answered, and lets those before it watch', async () => {
    const seen: string[] = []
    const answer = { head: { status: 200, statusText: '', headers: [] }, body: [] }
    const all = composedGate([
      gate({ kind: 'pass', watcher: { ended: ({ kind }) => void seen.push(kind) } }),
      gate({ kind: 'answer', answer }),
      { decide: () => expect.unreachable() },
    ])!
    const made = await all.decide(call)
    if (made.kind !== 'answer') return expect.unreachable()
    await made.watcher?.ended?.({ kind: 'done' })
    expect(seen).toEqual(['done'])
  })

  it('ends the watcher nearest to the wire first, and shows its failure to others', async () => {
    const seen: CallEnd[] = []
    const both = composedGate([
      gate({ kind: 'pass', watcher: { holds: 'end', ended: (end) => void seen.push(end) } }),
      gate({ kind: 'pass', watcher: { holds: 'answer', ended: async () => {
        throw new Error('not in the log')
      } } }),
    ])!
    const made = await both.decide(call)
    if (made.kind !== 'pass') return expect.unreachable()
    expect(made.watcher?.holds).toBe('answer')
    await expect(made.watcher?.ended?.({ kind: 'done' })).rejects.toThrow('not in the log')
    expect(seen).toEqual([{ kind: 'failed', error: new Error('not in the log'),
      mayHaveLeft: true }])
  })

  it('tells a watcher of a call that a later gate failed', async () => {
    const seen: CallEnd[] = []
    const error = new Error('refused')
    const both = composedGate([
      gate({ kind: 'pass', watcher: { ended: (end) => void seen.push(end) } }),
      gate({ kind: 'fail', error }),
    ])!
    expect(await both.decide(call)).toEqual({ kind: 'fail', error })
    expect(seen).toEqual([{ kind: 'failed', error, mayHaveLeft: false }])
  })
})
