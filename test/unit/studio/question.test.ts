/** Questions of graphs: which cards the shapes of interrupts get, and what their answers are. */

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'

import { effectQuestion } from '../../../src/graph/effects/effect-question.ts'
import { questionOf, questionWords } from '../../../src/studio/interrupts/question.ts'
import type { Question } from '../../../src/studio/interrupts/question.ts'
import { expectAlways } from '../../support/expect-always.ts'

type Review = Extract<Question, { kind: 'review' }>

const words = { description: 'Send it?' }
const args = { to: 'ada', copies: 2 }

describe('acts that wait for a review', () => {
  it.each([
    ['JavaScript', { actionRequests: [{ name: 'send', args, ...words }],
      reviewConfigs: [{ actionName: 'send', allowedDecisions: ['approve', 'edit', 'reject'] }] },
      'editedAction'],
    ['Python', { action_requests: [{ name: 'send', args, ...words }],
      review_configs: [{ action_name: 'send', allowed_decisions: ['approve', 'edit', 'reject'] }] },
      'edited_action'],
  ])('are answered in the spelling of %s', (_, value, edited) => {
    const { acts, answer } = questionOf(value) as Review
    expect(acts).toMatchObject([{ name: 'send', args, words: 'Send it?',
      allowed: ['approve', 'edit', 'reject'] }])
    expect(answer([{ kind: 'approve' }])).toEqual({ decisions: [{ type: 'approve' }] })
    expect(answer([{ kind: 'edit', args: { to: 'bob' } }])).toEqual({
      decisions: [{ type: 'edit', [edited]: { name: 'send', args: { to: 'bob' } } }],
    })
    expect(answer([{ kind: 'reject', words: '' }])).toEqual({ decisions: [{ type: 'reject' }] })
    expect(answer([{ kind: 'reject', words: 'no' }]))
      .toEqual({ decisions: [{ type: 'reject', message: 'no' }] })
  })

  it('may be several, each with its own rules and schema', () => {
    const { acts, answer } = questionOf({
      action_requests: [{ name: 'send', args }, { name: 'drop', args: {} }],
      review_configs: [{ action_name: 'drop', allowed_decisions: ['respond', 'strange'],
        args_schema: { type: 'object' } }],
    }) as Review
    expect(acts.map(({ allowed }) => allowed)).toEqual([['approve', 'edit', 'reject'], ['respond']])
    expect(acts[1]!.schema).toEqual({ type: 'object' })
    expect(answer([{ kind: 'approve' }, { kind: 'respond', words: 'ok' }]))
      .toEqual({ decisions: [{ type: 'approve' }, { type: 'respond', message: 'ok' }] })
  })

  it.each([[false], [true]])('of the older inbox are answered by a list; in a list: %s',
    (listed) => {
      const request = { action_request: { action: 'send', args },
        config: { allow_accept: true, allow_edit: true, allow_respond: true, allow_ignore: false },
        ...words }
      const { acts, answer } = questionOf(listed ? [request] : request) as Review
      expect(acts[0]).toMatchObject({ name: 'send', words: 'Send it?',
        allowed: ['approve', 'edit', 'respond'] })
      expect(answer([{ kind: 'approve' }]))
        .toEqual([{ type: 'accept', args: { action: 'send', args } }])
      expect(answer([{ kind: 'edit', args: {} }]))
        .toEqual([{ type: 'edit', args: { action: 'send', args: {} } }])
      expect(answer([{ kind: 'reject', words: '' }])).toEqual([{ type: 'ignore', args: null }])
      expect(answer([{ kind: 'respond', words: 'hi' }])).toEqual([{ type: 'response', args: 'hi' }])
    })
})

describe('other questions', () => {
  it('with a schema are forms', () => {
    const schema = { type: 'integer', default: 3 }
    expect(questionOf({ question: 'How many?', schema, unit: 'kg' })).toEqual({ kind: 'form',
      title: 'How many?', schema, initial: 3, shown: { unit: 'kg' } })
    expect(questionOf('How many?', schema)).toMatchObject({ kind: 'form', title: 'How many?',
      initial: 3, shown: undefined })
  })

  it('with a schema that is none are not', () => {
    for (const schema of ['x', 7, null, [], {}, { a: 1 }]) {
      expect(questionOf({ question: 'q', schema }).kind).toBe('open')
    }
  })

  it('with a list of plain values are choices', () => {
    expect(questionOf({ question: 'Which?', options: ['a', { label: 'B', value: 2 }] }))
      .toEqual({ kind: 'choice', title: 'Which?', shown: undefined,
        choices: [{ label: 'a', value: 'a' }, { label: 'B', value: 2 }] })
    expect(questionOf([true, false])).toMatchObject({ kind: 'choice', title: 'Which one?' })
    expect(questionOf([{ any: 1 }]).kind).toBe('open')
    expect(questionOf([]).kind).toBe('open')
  })

  it('about effects take a result, unless they only look like one', () => {
    const asked = effectQuestion('mail', { to: 'a' }, Date.UTC(2026, 0, 1))
    expect(questionOf(asked)).toEqual({ kind: 'effect', title: asked.message, isCall: false,
      choices: asked.choices, shown: { input: { to: 'a' }, since: '2026-01-01T00:00:00.000Z' } })
    expect(questionOf(effectQuestion('POST https://a.example/b', {}, 0)))
      .toMatchObject({ kind: 'effect', isCall: true })
    const choices = [{ label: 'Left', value: 'left' }]
    expect(questionOf({ reason: 'effect', message: 'Where?', choices }))
      .toMatchObject({ kind: 'choice', choices })
    expect(questionOf({ reason: 'effect', message: 'Where?' }).kind).toBe('open')
  })

  it('show what they do not say in words', () => {
    expect(questionOf('Sure?')).toEqual({ kind: 'open', title: 'Sure?', shown: undefined })
    expect(questionOf({ question: 'Sure?', draft: 'x' }))
      .toEqual({ kind: 'open', title: 'Sure?', shown: { draft: 'x' } })
    const long = 'x'.repeat(10_000_000)
    expect(questionOf(long)).toEqual({ kind: 'open', title: undefined, shown: long })
    expect(questionOf(null)).toEqual({ kind: 'open', title: undefined, shown: undefined })
  })

  it('are found in any value at all', () => {
    expectAlways(fc.property(fc.jsonValue(), fc.jsonValue(), (value, schema) => {
      expect(questionOf(value, schema).kind).toMatch(/^(review|form|choice|effect|open)$/)
      expect(questionWords(value).length).toBeGreaterThan(0)
    }))
    const broken = [{ action_requests: [{}] }, { action_requests: {} }, { actionRequests: [null] },
      { action_request: null }, [{ action_request: { action: 'x' }, config: 'y' }]]
    for (const value of broken) expect(() => questionWords(value)).not.toThrow()
  })
})
