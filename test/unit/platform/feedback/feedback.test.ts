/** Feedback: what is taken, how it is changed and answered, and tokens that stand for a caller. */

import { describe, expect, it } from 'vitest'

import { feedbackConfigsOver } from '../../../../src/platform/records/feedback/feedback-config.ts'
import { feedbackMembers } from '../../../../src/platform/records/feedback/feedback-members.ts'
import { changedFeedback, configIn,
  feedbackOf } from '../../../../src/platform/records/feedback/feedback-row.ts'
import { feedbackJson, sourceOf } from '../../../../src/platform/records/feedback/feedback-shape.ts'
import { feedbackByToken, idByToken, isByToken, tokenHash, tokenJson,
  tokenOf } from '../../../../src/platform/records/feedback/feedback-token.ts'
import { CatalogHouse } from '../catalog/catalog-house.ts'

const id = '11111111-1111-4111-8111-111111111111'
const run = '22222222-2222-4222-8222-222222222222'
const project = '33333333-3333-4333-8333-333333333333'
const nowUs = Date.UTC(2026, 0, 1) * 1_000

describe('feedback', () => {
  it('is read as clients send it, and answered so', () => {
    const row = feedbackOf('t', { id, run_id: run.replaceAll('-', ''), key: 'k', score: true,
      value: { a: 1 }, comment: 'c', feedback_source: { type: 'api', metadata: {} }, trace_id: null,
      start_time: 5, feedbackConfig: { type: 'freeform' }, tenant: 'other' }, nowUs)
    expect(row).toMatchObject({ tenant: 't', id, span: run, trace: null, project: null, key: 'k',
      score: 1, value: '{"a":1}', createdUs: nowUs, modifiedUs: nowUs })
    expect(feedbackJson(row)).toMatchObject({ id, run_id: run, trace_id: null, session_id: null,
      key: 'k', score: true, value: { a: 1 }, comment: 'c', correction: null,
      created_at: '2026-01-01T00:00:00.000000+00:00', feedback_config: { type: 'freeform' },
      modified_at: '2026-01-01T00:00:00.000000+00:00', comparative_experiment_id: null })
    expect(sourceOf(row)).toBe('api')
  })

  it('may be about a project', () => {
    const row = feedbackOf('t', { run_id: null, session_id: project, key: 'k', value: 'good' }, 1)
    expect(row).toMatchObject({ span: null, project, score: null, value: 'good' })
    // A head has the values of all its feedback.
    const long = feedbackOf('t', { session_id: project, key: 'k', value: 'x'.repeat(1_001) }, 1)
    expect(long.value).toBeNull()
    expect(feedbackJson(long)['value']).toHaveLength(1_001)
    expect(sourceOf(row)).toBe(undefined)
  })

  it('has an id of its own without one, the same for the same', () => {
    const made = (key: string, atUs: number) => feedbackOf('t', { run_id: run, key }, atUs).id
    expect(made('k', 1)).toBe(made('k', 1))
    expect(new Set([made('k', 1), made('k', 2), made('l', 1)]).size).toBe(3)
  })

  it.each([
    [null, 'body'],
    [{ run_id: run, key: '' }, 'key'],
    [{ run_id: run, key: 'k'.repeat(181) }, 'key'],
    [{ run_id: run, key: 'k', score: '1' }, 'score'],
    [{ run_id: 'x', key: 'k' }, 'run_id'],
    [{ key: 'k' }, 'run_id'],
    [{ run_id: run, key: 'k', id: 5 }, 'id'],
    [{ run_id: run, key: 'k', start_time: 'soon' }, 'start_time'],
    [{ run_id: run, key: 'k', comment: 'x'.repeat(300_000) }, 'body'],
  ])('refuses %j', (body, field) => {
    const attempt = () => feedbackOf('t', body, 1)
    expect(attempt).toThrow(new RegExp(`^${field}:`))
  })

  it('is changed where a change says something', () => {
    const row = feedbackOf('t', { id, run_id: run, key: 'k', score: 1, comment: 'c' }, 10)
    const after = changedFeedback(row, { score: 0, comment: null, key: 'other', run_id: id }, 20)
    expect(after).toMatchObject({ id, key: 'k', span: run, score: 0, createdUs: 10,
      modifiedUs: 20 })
    expect(feedbackJson(after)).toMatchObject({ score: 0, comment: 'c' })
    expect(() => changedFeedback(row, { score: 'x' }, 20)).toThrow(/score/)
  })

  it('answers each member, and changes those that may be changed', () => {
    const row = feedbackOf('t', { id, run_id: run, key: 'k' }, 10)
    const members = Object.entries(feedbackMembers)
    const given = Object.fromEntries(members.map(([name]) => [name, 5]))
    const [before, after] = [row, changedFeedback(row, given, 20)].map((each): object =>
      feedbackJson(each)
    ) as [Record<string, unknown>, Record<string, unknown>]
    for (const [name, rule] of members) {
      expect([before[name], after[name]], name).toEqual([null, rule === 'change' ? 5 : null])
    }
  })
})

describe('a token of feedback', () => {
  const parts = { tenant: 't', nowMs: 1_000, id, secret: 'the secret' }

  it('is kept as a hash, and ends', () => {
    const token = tokenOf({ run_id: run, feedback_key: 'k' }, parts)
    expect(token).toEqual({ tenant: 't', id, span: run, key: 'k', configJson: 'null',
      hash: tokenHash('the secret'), expiresMs: 1_000 + 3 * 3_600_000 })
    expect(JSON.stringify(token)).not.toContain('the secret')
    const shown = { feedback_key: 'k', expires_at: '1970-01-01T03:00:01.000000+00:00' }
    expect(tokenJson(token, { token: 'the secret', url: 'u' }))
      .toEqual({ ...shown, id: 'the secret', url: 'u' })
    expect(tokenJson(token)).toEqual({ ...shown, id, url: '' })
    const endOf = (more: object) =>
      tokenOf({ run_id: run, feedback_key: 'k', ...more }, parts)
        .expiresMs
    expect(endOf({ expires_in: { days: 1, hours: 1, minutes: 1 } })).toBe(1_000 + 90_060_000)
    expect(endOf({ expires_at: '1970-01-02T00:00:00Z' })).toBe(86_400_000)
    for (const wrong of [{ expires_in: { days: 400 } }, { expires_in: { days: -1 } }, {
      expires_at: '1970-01-01T00:00:00Z',
    }, { expires_at: 'soon' }, { run_id: 'x' }, {
      feedback_key: '',
    }]) {
      expect(() => endOf(wrong)).toThrow()
    }
  })

  it('is known from the ids of its feedback, of which no two are the same', () => {
    const token = tokenOf({ run_id: run, feedback_key: 'k' }, parts)
    const other = tokenOf({ run_id: run, feedback_key: 'k' }, { ...parts, secret: 'another' })
    const uuid7 = '0190a5d2-0000-7000-8000-000000000000'
    const ids = Array.from({ length: 100 }, (_, no) => idByToken(token, uuid7, `secret ${no}`))
    expect(new Set(ids).size).toBe(100)
    for (const each of ids) {
      expect(each).toMatch(/^0190a5d2-0000-7[\da-f]{3}-8[\da-f]{3}-[\da-f]{12}$/)
      expect([isByToken(token, each), isByToken(other, each)]).toEqual([true, false])
    }
  })

  it('gives feedback on its span, with its key', () => {
    const token = tokenOf({ run_id: run, feedback_key: 'k' }, parts)
    const row = feedbackOf('t',
      feedbackByToken(token, { score: 1, key: 'other', run_id: id, metadata: { page: 'p' } }, id),
      1)
    expect(row).toMatchObject({ span: run, key: 'k', score: 1 })
    expect(feedbackJson(row)).toMatchObject({
      feedback_source: { type: 'app', metadata: { page: 'p' } },
    })
  })
})

describe('configurations of feedback', () => {
  it('are one for each key', async () => {
    const house = new CatalogHouse()
    const configs = feedbackConfigsOver(house.client(), house.env)
    const body = { feedback_key: 'k', feedback_config: { type: 'continuous', min: 0, max: 1 } }
    const made = await configs.create('t', body)
    expect(made).toMatchObject({ ...body, is_lower_score_better: false })
    expect(await configs.create('t', body)).toEqual(made)
    await expect(configs.create('t', { ...body, is_lower_score_better: true })).rejects
      .toMatchObject({ code: 'malformed' })
    await configs.ensure('t', { feedback_key: 'k' })
    await configs.ensure('t', { feedback_key: 'other' })
    expect(await configs.patch('t', { feedback_key: 'k', is_lower_score_better: true }))
      .toMatchObject({ ...body, is_lower_score_better: true })
    const keys = async (query: object) =>
      (await configs.list('t', { limit: 100, offset: 0, ...query })).configs
        .map((config) => config['feedback_key'])
    expect(await keys({})).toEqual(['k', 'other'])
    expect(await keys({ keys: ['other', 'nobody'] })).toEqual(['other'])
    expect(await keys({ nameContains: 'K' })).toEqual(['k'])
    await configs.delete('t', ['k', 'nobody'])
    expect(await keys({})).toEqual(['other'])
    await expect(configs.patch('t', { feedback_key: 'k' })).rejects
      .toMatchObject({ code: 'not_found' })
  })

  it('come with feedback, under either name', () => {
    expect(configIn({ feedback_config: null, feedbackConfig: { type: 'freeform' } }))
      .toEqual({ type: 'freeform' })
    expect(configIn({ feedback_config: 'x' })).toBe(undefined)
  })
})
