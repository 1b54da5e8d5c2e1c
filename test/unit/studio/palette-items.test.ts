/** What the command palette offers, what rows say, and which views are stored. */

import { describe, expect, it } from 'vitest'

import type { Thread } from '../../../src/studio/api/threads.ts'
import { isWholeId, matching, threadItem } from '../../../src/studio/shell/palette-items.ts'
import type { PaletteItem } from '../../../src/studio/shell/palette-items.ts'
import { threadListViews, viewsIn, withView } from '../../../src/studio/addresses/saved-views.ts'
import { graphOf, lastWords, questionWords,
  tagsOf } from '../../../src/studio/threads/thread-words.ts'

const item = (group: PaletteItem['group'], words: string, aside?: string): PaletteItem => ({
  id: words,
  group,
  words,
  act: () => {},
  ...aside !== undefined && { aside },
})

const thread = (more: Partial<Thread>): Thread => ({
  thread_id: '01a21699-1111-4222-8333-0123450f258d',
  created_at: '2026-11-27T00:00:00Z',
  updated_at: '2026-11-27T00:00:00Z',
  status: 'idle',
  metadata: {},
  interrupts: {},
  error: null,
  ...more,
})

describe('the palette', () => {
  const items = [item('Pages', 'Limits & keys'), item('Here', 'New thread'),
    item('Assistants', 'Helper', 'agent'), item('Threads', 'Found by the server')]
  const found = (typed: string) => matching(items, typed).map(({ words }) => words)

  it('offers what has all words as beginnings', () => {
    expect(found('')).toHaveLength(4)
    expect(found('ke li')).toEqual(['Limits & keys', 'Found by the server'])
    expect(found('AGE')).toEqual(['Helper', 'Found by the server'])
    expect(found('zzz')).toEqual(['Found by the server'])
  })

  it('keeps each group short', () => {
    const many = Array.from({ length: 50 }, (_, at) => item('Assistants', `a ${at}`))
    expect(matching(many, 'a')).toHaveLength(8)
  })

  it('knows a whole id, and where a thread leads', () => {
    expect(isWholeId(' 01a21699-1111-4222-8333-0123450f258d ')).toBe(true)
    expect(isWholeId('01a21699')).toBe(false)
    const went: string[] = []
    const line = threadItem(thread({ metadata: { title: 'Looms' } }), (id) => went.push(id))
    line.act()
    expect([line.words, line.aside, went]).toEqual(['Looms', '450f258d', [thread({}).thread_id]])
  })
})

describe('a row', () => {
  it.each([
    ['Publish it?', 'Publish it?'],
    [{ question: 'Which one?' }, 'Which one?'],
    [{ action_requests: [{ name: 'send', description: 'Send **the** mail' }] },
      'Send **the** mail'],
    [{ actionRequests: [{ name: 'send', description: 'Send it?' }] }, 'Send it?'],
    [[{ action_request: { action: 'send' } }], 'send'],
    [{ anything: 1 }, 'Waits for an answer'],
    [null, 'Waits for an answer'],
  ])('asks %o as %s', (value, words) => {
    expect(questionWords({ task: [{ id: 'a', value }] })).toBe(words)
  })

  it('says what was said last, or why it failed', () => {
    expect(lastWords(thread({ extracted: { last: '# Hello\n\n- you' } }))).toBe('# Hello - you')
    expect(lastWords(thread({}))).toBe('No messages yet')
    expect(lastWords(thread({ status: 'error', error: { error: 'TypeError', message: 'no' } })))
      .toBe('no')
    expect(lastWords(thread({ status: 'error', error: { error: 'TypeError', message: '' } })))
      .toBe('TypeError')
  })

  it('shows two short pairs of metadata, and the graph by itself', () => {
    const one = thread({
      metadata: { title: 'T', graph_id: 'g', user: 'ada', deep: { a: 1 }, n: 5, channel: 'web',
        long: 'x'.repeat(30) },
    })
    expect(tagsOf(one)).toEqual([['user', 'ada'], ['n', 5]])
    expect(graphOf(one)).toBe('g')
    expect(graphOf(thread({}))).toBeUndefined()
  })
})

describe('saved views', () => {
  it('are read from whatever is stored', () => {
    for (const text of [null, '', '{', '4', '[null, 3, {"name": 1}]']) {
      expect(viewsIn(threadListViews, text)).toEqual([])
    }
    expect(viewsIn(threadListViews, '[{"name":"Failed","search":{"status":"error","other":1}}]'))
      .toEqual([{ name: 'Failed', search: { status: 'error' } }])
  })

  it('have one view of each name', () => {
    const one = { name: 'A', search: { q: 'a' } }
    const two = { name: 'A', search: { q: 'b' } }
    expect(withView(withView([], one), two)).toEqual([two])
  })
})
