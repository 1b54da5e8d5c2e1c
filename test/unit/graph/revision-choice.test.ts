/** Which revision a run takes. */

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'

import { pathsOf } from '../../../src/graph/index.ts'
import { choiceMessage, chooseRevision } from '../../../src/graph/revision-choice.ts'
import type { ChoiceParts, RevisionChoice } from '../../../src/graph/revision-choice.ts'
import type { GraphDescription } from '../../../src/graph/index.ts'
import { expectAlways } from '../../support/expect-always.ts'
import { aGraph } from '../../support/fake-deployments.ts'

const names = ['r1', 'r2', 'r3'] as const
const nodes = ['ask', 'confirm', 'research', 'research:ask', 'research:deep:pay'] as const

const revisions = fc.dictionary(fc.constantFrom(...names), fc.subarray([...nodes]))
  .map((by) =>
    new Map(Object.entries(by).map(([name, held]) => [name, [aGraph('agent', ...held)]]))
  )

const parts: fc.Arbitrary<ChoiceParts> = fc.record({
  view: fc.record({
    active: fc.constantFrom(...names, null),
    next: fc.option(
      fc.record({ revision: fc.constantFrom(...names), percent: fc.integer({ min: 1, max: 99 }) }),
    ),
    paused: fc.boolean(),
    movesRuns: fc.boolean(),
    revisions,
  }),
  threadId: fc.uuid(),
  graphId: fc.constant('agent'),
  requested: fc.option(fc.constantFrom(...names)),
  waiting: fc.option(
    fc.record({ nodes: fc.subarray([...nodes]), raisedBy: fc.constantFrom(...names, '') }),
  ),
})

const nodesOf = ({ view }: ChoiceParts, revision: string) => {
  const graph = view.revisions.get(revision)?.[0]
  return graph && pathsOf(graph)
}

const base: ChoiceParts = { threadId: 'x', graphId: 'agent', requested: null, waiting: null,
  view: { active: 'r2', next: null, paused: false, movesRuns: false,
    revisions: new Map([['r1', [aGraph('agent', 'ask')]], ['r2', [aGraph('agent', 'confirm')]]]) } }

const chosen = (revision: string): RevisionChoice => ({ kind: 'chosen', revision })

describe('any choice', () => {
  it('is a revision that can be loaded and has every node that waits, or a refusal', () => {
    expectAlways(fc.property(parts, (each) => {
      const choice = chooseRevision(each)
      if (choice.kind !== 'chosen') {
        expect(choiceMessage(choice)).toMatch(/\.$/)
        return
      }
      expect(nodesOf(each, choice.revision)).toEqual(
        expect.arrayContaining([...each.waiting?.nodes ?? []]),
      )
      const { view: { active, next }, requested, waiting } = each
      expect([active, next?.revision, requested, waiting?.raisedBy]).toContain(choice.revision)
    }))
  })

  it('is the one that was asked for, or none', () => {
    expectAlways(fc.property(parts, fc.constantFrom(...names), (each, requested) => {
      const choice = chooseRevision({ ...each, requested })
      expect([requested, undefined]).toContain(
        choice.kind === 'chosen' ? choice.revision : undefined,
      )
    }))
  })

  it('is refused only if neither the pointer nor the revision that waits can go on', () => {
    expectAlways(fc.property(parts, (each) => {
      const { view, waiting } = each
      const choice = chooseRevision({ ...each, requested: null })
      if (choice.kind !== 'missing') return
      const lacks = (name: string | null | undefined) =>
        name == null || !waiting!.nodes.every((node) => nodesOf(each, name)?.includes(node))
      expect(lacks(view.active) || lacks(view.next?.revision)).toBe(true)
      expect(lacks(waiting!.raisedBy)).toBe(true)
    }))
  })
})

describe('a share of new runs', () => {
  const at = (threadId: string, percent: number) =>
    chooseRevision({ ...base, threadId,
      view: { ...base.view, active: 'r1', next: { revision: 'r2', percent } } })

  it('never gives a thread back while it grows', () => {
    expectAlways(fc.property(fc.string(), fc.integer({ min: 1, max: 98 }), (threadId, percent) => {
      if (at(threadId, percent).kind !== 'chosen') throw new Error('refused')
      if ((at(threadId, percent) as { revision: string }).revision === 'r2') {
        expect(at(threadId, percent + 1)).toEqual(chosen('r2'))
      }
    }))
  })

  it.each([1, 10, 50, 90, 99])('of %i percent is about that many threads', (percent) => {
    const ids = Array.from({ length: 10_000 }, (_, i) => `00000000-0000-7000-8000-${i}`)
    const moved = ids.filter((id) => (at(id, percent) as { revision: string }).revision === 'r2')
    expect(Math.abs(moved.length / 100 - percent)).toBeLessThan(2)
  })
})

describe('a thread that waits', () => {
  const waiting = { nodes: ['ask'], raisedBy: 'r1' }

  it('goes on with the revision that made it wait if the active one lacks its node', () => {
    expect(chooseRevision({ ...base, waiting })).toEqual(chosen('r1'))
  })

  it('goes on with the active one if that has its node', () => {
    const waitsThere = { nodes: ['confirm'], raisedBy: 'r1' }
    expect(chooseRevision({ ...base, waiting: waitsThere })).toEqual(chosen('r2'))
  })

  it('is refused by name if nothing has its node', () => {
    const choice = chooseRevision({ ...base, waiting: { nodes: ['pay', 'ask'], raisedBy: 'r0' } })
    expect(choice).toEqual({ kind: 'missing', nodes: ['pay', 'ask'], revision: 'r0' })
    expect(choiceMessage(choice as never)).toContain('"pay", "ask" of revision r0')
  })

  describe('inside a subgraph', () => {
    const inside = { nodes: ['research:ask'], raisedBy: 'r1' }
    const old = aGraph('agent', 'research', 'research:ask')
    const over = (active: GraphDescription, ...kept: readonly GraphDescription[]) =>
      chooseRevision({ ...base, waiting: inside,
        view: { ...base.view, revisions: new Map([['r2', [active]], ...kept.map((graph) =>
          ['r1', [graph]] as const
        )]) } })
    const { subgraphNodes: _, ...describedBefore } = aGraph('agent', 'research')

    it('goes on with the revision that made it wait if the active one renamed its node', () => {
      expect(over(aGraph('agent', 'research', 'research:inquire'), old)).toEqual(chosen('r1'))
    })

    it('goes on with that as well if the node is not a subgraph any more', () => {
      expect(over(aGraph('agent', 'research'), old)).toEqual(chosen('r1'))
    })

    it('goes on with the active one if that has its node', () => {
      expect(over(aGraph('agent', 'research', 'research:ask', 'research:more'), old))
        .toEqual(chosen('r2'))
    })

    it('is refused by its path if the revision that made it wait is gone', () => {
      const choice = over(aGraph('agent', 'research', 'research:inquire'))
      expect(choice).toEqual({ kind: 'missing', nodes: ['research:ask'], revision: 'r1' })
      expect(choiceMessage(choice as never)).toContain('"research:ask" of revision r1')
    })

    it('goes on with a revision whose description has root nodes only, if the root node is there',
      () => {
        expect(over(describedBefore)).toEqual(chosen('r2'))
        expect(over({ ...describedBefore, nodes: ['other'] })).toMatchObject({ kind: 'missing' })
        expect(over(aGraph('agent', 'research', 'research:inquire'), describedBefore))
          .toEqual(chosen('r1'))
      })
  })

  it('whose row names root nodes only goes on as it did before', () => {
    const view = { ...base.view, revisions: new Map([
      ['r1', [aGraph('agent', 'research', 'research:ask')]],
      ['r2', [aGraph('agent', 'research', 'research:inquire')]],
    ]) }
    const atRoot = (...nodes: readonly string[]) =>
      chooseRevision({ ...base, view, waiting: { nodes, raisedBy: 'r1' } })
    expect(atRoot('research')).toEqual(chosen('r2'))
    expect(atRoot('gone')).toMatchObject({ kind: 'missing' })
  })

  it('is refused if the revision that was asked for lacks its node', () => {
    expect(chooseRevision({ ...base, waiting, requested: 'r2' }))
      .toEqual({ kind: 'missing', nodes: ['ask'], revision: 'r1' })
  })

  it('goes on with a graph that is made for each use: its nodes are not known', () => {
    const { channels: _, ...factory } = aGraph('agent')
    const view = { ...base.view, revisions: new Map([['r2', [factory]]]) }
    expect(chooseRevision({ ...base, view, waiting })).toEqual(chosen('r2'))
  })
})

it('Nothing is chosen before a revision is active.', () => {
  const view = { ...base.view, active: null }
  expect(chooseRevision({ ...base, view })).toEqual({ kind: 'inactive' })
  expect(chooseRevision({ ...base, view, requested: 'r1' })).toEqual(chosen('r1'))
})

it('A revision that is not there is not chosen, whoever asks for it.', () => {
  expect(chooseRevision({ ...base, requested: 'r9' })).toEqual({ kind: 'unknown', revision: 'r9' })
  const view = { ...base.view, active: 'r9' }
  expect(chooseRevision({ ...base, view })).toEqual({ kind: 'unknown', revision: 'r9' })
})
