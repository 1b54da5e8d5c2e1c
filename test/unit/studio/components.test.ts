/** Components of graphs in the chat: which are shown, and how a frame is held in bounds. */

import { describe, expect, it } from 'vitest'

import { begunFrame, frameLimits, received,
  ticked } from '../../../src/studio/components/frame-state.ts'
import { shownBelow, uiMessagesOf } from '../../../src/studio/components/ui-message.ts'

const ui = (id: string, props: object = {}, metadata: object = {}) => ({ type: 'ui', id,
  name: 'card', props, metadata })

describe('messages about components', () => {
  it('are those of the state, with what the run says beside', () => {
    const state = [ui('a', { one: 1 }), ui('b', { two: 2 }), ui('c')]
    const events = [ui('a', { more: 1 }, { merge: true }), ui('b', { other: 3 }), {
      type: 'remove-ui',
      id: 'c',
    }, ui('d')]
    expect(uiMessagesOf(state, events).map(({ id, props }) => [id, props]))
      .toEqual([['a', { one: 1, more: 1 }], ['b', { other: 3 }], ['d', {}]])
    // The state has them as well once the step has ended.
    expect(uiMessagesOf(uiMessagesOf(state, events), events))
      .toEqual(uiMessagesOf(state, events))
  })

  it('are left out where they have another form, and the oldest ones of many', () => {
    const wrong = ['words', null, 5, { type: 'ui' }, { ...ui('x'), props: null }, { ...ui('x'),
      name: 7 }, { ...ui('x'), id: 1 }, { type: 'other', id: 'x' }]
    expect(uiMessagesOf(wrong, wrong)).toEqual([])
    for (const state of [undefined, null, 'words', {}]) expect(uiMessagesOf(state)).toEqual([])
    const many = Array.from({ length: 300 }, (_, at) => ui(`m${at}`))
    expect(uiMessagesOf(many)).toHaveLength(200)
    expect(uiMessagesOf(many).at(-1)?.id).toBe('m299')
  })

  it('are shown at the message that they name, else at the end', () => {
    const all = uiMessagesOf([ui('a', {}, { id: 'one' }), ui('b', {}, { id: 'gone' }), ui('c')])
    const ids = new Set(['one', 'two'])
    const at = (id: string, isLast: boolean) => shownBelow(all, ids, id, isLast).map((m) => m.id)
    expect([at('one', false), at('two', true)]).toEqual([['a'], ['b', 'c']])
  })
})

describe('the frame of a component', () => {
  const after = (...mails: unknown[]) =>
    mails.reduce((state: ReturnType<typeof begunFrame>, mail) => received(state, mail, 10),
      begunFrame(0))

  it('is as high as it says, within bounds', () => {
    const highOf = (height: unknown) => after({ kind: 'ready' }, { kind: 'size', height }).height
    expect([100.2, 1e9, -5, 0].map(highOf)).toEqual([101, frameLimits.heightMax,
      frameLimits.heightMin, frameLimits.heightMin])
    expect([NaN, Infinity, '700', null, undefined].map(highOf)).toEqual(Array(5).fill(60))
  })

  it('is taken away with a sentence when it says that it failed', () => {
    expect(after({ kind: 'failed', reason: 'x'.repeat(9_999) }))
      .toMatchObject({ phase: 'failed', reason: 'x'.repeat(frameLimits.reasonLength) })
    expect(after({ kind: 'failed', reason: { toString: 5 } })).toMatchObject({
      reason: 'The component failed.',
    })
    const gone = after({ kind: 'failed', reason: 'one' })
    expect(received(gone, { kind: 'ready' }, 20)).toBe(gone)
    expect(ticked(gone, 1e9)).toBe(gone)
  })

  it('is taken away when it is silent, or never stops', () => {
    const ready = after({ kind: 'ready' })
    expect(ticked(ready, 10 + frameLimits.silentMs)).toMatchObject({ phase: 'ready', mails: 0 })
    expect(ticked(ready, 11 + frameLimits.silentMs)).toMatchObject({ phase: 'failed',
      reason: expect.stringContaining('does not answer') })
    expect(ticked(begunFrame(0), 9_999).reason).toContain('could not be loaded')
    const loud = after(...Array.from({ length: frameLimits.mailsATick + 1 }, () => 'noise'))
    expect(loud).toMatchObject({ phase: 'failed', reason: expect.stringContaining('sending') })
  })

  it('is as it was, whatever else it sends', () => {
    for (const mail of [null, 5, [], {}, { kind: 'show' }, { kind: 'nothing' }]) {
      expect(after(mail)).toMatchObject({ phase: 'loading', reason: '', wanted: false })
    }
    expect(after({ kind: 'wanted' })).toMatchObject({ wanted: true })
  })
})
