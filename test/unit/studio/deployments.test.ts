/** Deployments in the Studio: what is said of them, and which lines and events are kept. */

import { describe, expect, it } from 'vitest'

import type { DeploymentEvent, LogLine,
  Outcome } from '../../../src/studio/api/control/deployment.ts'
import { eventsMax, eventWords, withEvents } from '../../../src/studio/deployments/event-words.ts'
import { noLines, reopened, withLines } from '../../../src/studio/deployments/logs/log-lines.ts'
import { reportWords } from '../../../src/studio/deployments/report-words.ts'
import { outcomeFigures, outcomeWords, progressWords, revisionState, rolloutTitle,
  span } from '../../../src/studio/deployments/rollout-words.ts'

const line = (second: number, text: string, member = 'a'): LogLine => ({
  at: `2026-01-01T12:00:${String(second).padStart(2, '0')}.000Z`,
  level: 'info',
  member,
  revision: 'r1',
  text,
  thread_id: null,
  run_id: null,
})

describe('the lines of a log', () => {
  it('come once, also when the server sends its last lines again after a break', () => {
    const before = withLines(noLines, [line(1, 'one'), line(2, 'two'), line(2, 'two')])
    expect(before.lines.map(({ text }) => text)).toEqual(['one', 'two', 'two'])
    const again = withLines(reopened(before), [line(1, 'one'), line(2, 'two'),
      line(2, 'other', 'b'), line(3, 'three'), line(3, 'three')])
    expect(again.lines.map(({ text }) => text))
      .toEqual(['one', 'two', 'two', 'other', 'three', 'three'])
    expect(withLines(reopened(again), [line(3, 'three')])).toEqual(reopened(again))
  })

  it('are bounded: the oldest leave, and are counted', () => {
    const full = withLines(noLines, Array.from({ length: 5 }, (_, at) => line(at, `${at}`)), 3)
    expect(full.lines.map(({ text }) => text)).toEqual(['2', '3', '4'])
    expect(full.dropped).toBe(2)
    expect(withLines(full, [line(9, 'new')], 3)).toMatchObject({ dropped: 3 })
  })
})

const event = (seq: number, kind: string, data: object = {}): DeploymentEvent => ({ seq, kind,
  at: '2026-01-01T12:00:00.000Z', by: 'mira', ...data })

describe('events', () => {
  it('are the newest first, none twice, and bounded', () => {
    const first = withEvents([], [event(1, 'deployment'), event(2, 'revision')])
    const more = withEvents(first, [event(2, 'revision'), event(4, 'pointer'), event(3, 'member'),
      event(4, 'pointer')])
    expect(more.map(({ seq }) => seq)).toEqual([4, 3, 2, 1])
    expect(withEvents(more, [event(4, 'pointer')])).toBe(more)
    const many = Array.from({ length: eventsMax }, (_, at) => event(at + 5, 'build'))
    expect(withEvents(more, many).map(({ seq }) => seq)).toEqual(
      many.map(({ seq }) => seq).reverse(),
    )
  })

  it.each<readonly [DeploymentEvent, string]>([
    [event(1, 'deployment', { change: 'changed', name: 'shop', paused: true }),
      'changed: paused true'],
    [event(2, 'revision', { revision: 'r2', state: 'refused', reason: 'No graph.' }),
      'r2 is refused: No graph.'],
    [event(3, 'rollout', { action: 'activate', revision: 'r2', phase: 'preparing', message: 'x' }),
      'r2 preparing: x'],
    [
      event(4, 'rollout', { action: 'activate', revision: 'r2', phase: 'ended',
        result: 'rolled_back', reason: 'Too many errors.' }),
      'r2 rolled back: Too many errors.',
    ],
    [event(5, 'rollout', { action: 'check', revision: 'r2', phase: 'ended', result: 'done' }),
      'r2 check done'],
    [event(6, 'member', { member: '12345678-9abc', state: 'ready', ms: 1_200 }),
      '12345678 ready: 1.2 s'],
    [event(7, 'pointer', { active: 'r2', previous: 'r1' }), 'r2 is active: before it r1'],
    [event(8, 'secret', { name: 'KEY', change: 'set', version: 2 }), 'KEY set: version 2'],
    [event(9, 'report', { graphs_added: ['b'] }), 'Graph b is new.'],
    [event(10, 'build', { text: 'npm ci' }), 'npm ci'],
    [event(11, 'later', { how_many: 3, what: { a: 1 } }), 'how many 3, what {"a":1}'],
  ])('%j in words', (given, words) => {
    expect(eventWords(given)).toBe(words)
  })
})

const andGoOn = 'on with the revision that has it.'

describe('the report of a check', () => {
  it('says first what threads and callers lose', () => {
    expect(reportWords({ graphs_added: ['b'], graphs_removed: ['c'], channels_removed: [{
      graph_id: 'a',
      channel: 'notes',
    }], nodes_removed: [
      { graph_id: 'a', node: 'ask', waiting_threads: 3 },
      { graph_id: 'a', node: 'research:one', waiting_threads: 1 },
      { graph_id: 'a', node: 'none', waiting_threads: 0 },
      { graph_id: 'a', node: 'many', waiting_threads: null },
    ], nodes_added: [{ graph_id: 'a', node: 'new' }], wants_env_missing: ['KEY', 'URL'] })).toEqual(
      [
        'It has no graph c any more.',
        `It has no node ask of a any more: 3 threads wait there, and go ${andGoOn}`,
        `It has no node research:one of a any more: 1 thread waits there, and goes ${andGoOn}`,
        'It has no node none of a any more.',
        'It has no node many of a any more: threads may wait there, which were too many to count.',
        'The state of a has no notes any more.',
        'No secret is set for KEY, URL.',
        'Graph b is new.',
        'Node new of a is new.',
      ],
    )
    expect(reportWords({})).toEqual([
      'Graphs, nodes and state are those of the active revision.',
    ])
  })
})

const outcome: Outcome = { id: 'x', kind: 'activate', revision: 'r2', from: 'r1', percent: 100,
  result: 'done', reason: null, failures: [], by: 'mira', started_at: '2026-01-01T12:00:00.000Z',
  ended_at: '2026-01-01T12:00:02.500Z',
  members: [{ id: 'a', state: 'confirmed', ms: 3 }, { id: 'b', state: 'silent', ms: null }] }

describe('roll-outs in words', () => {
  it.each<readonly [Partial<Outcome>, string]>([
    [{}, 'r2 became active'],
    [{ percent: 10 }, 'r2 got 10 % of new runs'],
    [{ kind: 'rollback' }, 'Rolled back to r2'],
    [{ kind: 'secrets' }, 'r2 runs with changed secrets'],
    [{ kind: 'check' }, 'r2 was checked'],
    [{ kind: 'check', result: 'failed' }, 'The check of r2 failed'],
    [{ result: 'failed' }, 'r2 was not rolled out'],
    [{ result: 'refused' }, 'r2 was refused'],
    [{ result: 'rolled_back' }, 'r2 was taken back to r1'],
    [{ result: 'rolled_back', from: null }, 'r2 was taken back'],
  ])('%j', (change, words) => {
    expect(outcomeWords({ ...outcome, ...change })).toBe(words)
  })

  it('count the members that followed', () => {
    expect(outcomeFigures(outcome)).toBe('1 of 2 members, 2.5 s')
    const members = [{ id: 'a', state: 'ready', ms: 1 }, { id: 'b', state: 'waiting', ms: null }, {
      id: 'c',
      state: 'confirmed',
      ms: 2,
    }] as const
    expect(progressWords({ phase: 'preparing', members })).toBe('2 of 3 members loaded it')
    expect(progressWords({ phase: 'confirming', members })).toBe('1 of 3 members switched')
    expect(progressWords({ phase: 'watching', members })).toBe('Ended runs are watched')
    expect(rolloutTitle({ kind: 'activate', revision: 'r2', percent: 5 }))
      .toBe('r2 gets 5 % of new runs')
  })

  it('name what a revision does for its deployment before what it is', () => {
    const deployment = { active: 'r1', next: { revision: 'r2', percent: 10 } }
    const word = (name: string, state: 'ready' | 'removed' = 'ready') =>
      revisionState({ name, state }, deployment).word
    expect(['r1', 'r2', 'r3'].map((name) => word(name)))
      .toEqual(['Active', '10 % of new runs', 'Ready'])
    expect(word('r4', 'removed')).toBe('Removed')
  })

  it.each([[604_800, '7 days'], [3_600, '1 hour'], [90, '2 minutes'], [59, '59 seconds']])(
    '%d seconds are %s',
    (seconds, words) => expect(span(seconds)).toBe(words),
  )
})
