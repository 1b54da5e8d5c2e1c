/** Rules of a real server: what ends is judged, passed on and written down, once. */

import { randomUUID } from 'node:crypto'

import { afterAll, beforeAll, expect, it } from 'vitest'

import { openReceiver } from '../../support/receiver.ts'
import type { Receiver } from '../../support/receiver.ts'
import { isNight } from '../../support/repeats.ts'
import { eventually, ruleWire } from '../../support/rules.ts'
import { useServer } from '../../support/server.ts'

const server = useServer('judging')
const wire = ruleWire(server)
let receiver: Receiver

beforeAll(async () => {
  receiver = await openReceiver()
})
afterAll(() => receiver.close())

const judge = { graph_id: 'judge' }

it.concurrent('A graph judges what ends, and its own trace can be read', async () => {
  const project = await wire.project('judged')
  const rule = await wire.rule({ display_name: 'Short answers', session_id: project,
    filter: 'eq(name, "agent")', evaluators: [judge] })
  const [short, other, mute, broken] = [randomUUID(), randomUUID(), randomUUID(), randomUUID()]
  await wire.end(project, [
    { id: short!, outputs: { answer: 'yes' } },
    { id: other!, name: 'tool' },
    { id: mute!, inputs: { kind: 'mute' } },
    { id: broken!, inputs: { kind: 'broken' } },
  ])
  await eventually(async () => expect(await wire.log(rule)).toHaveLength(3))
  expect(await wire.feedback(short!)).toMatchObject([{ key: 'short', score: true,
    comment: '3 characters', feedback_source: { type: 'auto_eval' } }])
  const lines = new Map((await wire.log(rule)).map((line) => [line.run_id, line]))
  expect(lines.get(short)).toMatchObject({ outcome: 'done', actions: [{ kind: 'evaluator' }] })
  expect(lines.get(mute)).toMatchObject({ outcome: 'failed',
    message: 'The judge answered nothing that can be kept.' })
  expect(lines.get(broken)).toMatchObject({ outcome: 'failed',
    message: 'The graph of the judge failed.' })
  for (const id of [other!, mute!, broken!]) expect(await wire.feedback(id)).toEqual([])
  const judgeRun = lines.get(short)!.actions[0]!.judge_run_id!
  await eventually(async () => {
    const { body } = await wire.send('GET', `/runs/${judgeRun}`)
    expect(body).toMatchObject({ name: 'judge', outputs: { short: true } })
  })
  const state = await wire.send('GET', `/runs/rules/${rule}/last_applied`)
  expect(state.body).toMatchObject({ looked_at: 4, applied: 1, failed: 2,
    last_error: { message: expect.any(String) as string } })
}, 60_000)

it.concurrent('Samples whole traces, stops at the spend limit, and goes over the past when asked',
  async () => {
    const project = await wire.project('past')
    const ids = Array.from({ length: 20 }, () => randomUUID())
    await wire.end(project, ids.map((id) => ({ id, outputs: { answer: 'no' } })))
    const rule = await wire.rule({ display_name: 'Past', session_id: project, sampling_rate: 0.5,
      evaluators: [judge], spend_limit: { calls_per_day: 2 } })
    const triggered = await wire.send('POST', `/runs/rules/${rule}/trigger`, {})
    expect(triggered.status).toBe(202)
    await eventually(async () => {
      const { body } = await wire.send('GET', `/runs/rules/${rule}/last_applied`)
      expect(body).toMatchObject({ looked_at: 20, backfill: null, spent: { calls: 2 } })
    })
    const lines = await wire.log(rule)
    expect(lines.filter(({ outcome }) => outcome === 'done')).toHaveLength(2)
    const skipped = lines.filter(({ outcome }) => outcome === 'skipped')
    expect(skipped.length).toBe(lines.length - 2)
    expect(skipped[0]!.message).toBe('Not judged: the spend limit of the day is reached.')
    expect(lines.length).toBeLessThan(20)
  }, 60_000)

it.concurrent('Refuses rules that could never work', async () => {
  const project = await wire.project('refused')
  const evaluators = await wire.project('evaluators')
  const refused = async (
    body: object,
  ) => (await wire.send('POST', '/runs/rules', { display_name: 'x', session_id: project, ...body }))
  const invalid = [
    { evaluators: [{ graph_id: 'unknown' }] },
    { session_id: evaluators, evaluators: [judge] },
    { code_evaluators: [{ code: 'def f(): pass' }] },
    { evaluators: [judge], filter: 'eq(name' },
    { webhooks: [{ url: 'http://10.0.0.1/' }] },
    { webhooks: [] },
    { evaluators: [judge], dataset_id: randomUUID() },
    { evaluators: [judge], backfill_from: 'soon' },
  ]
  for (const body of invalid)
    expect(await refused(body), JSON.stringify(body)).toMatchObject({
      status: 422,
      body: { detail: expect.any(String) as string },
    })
  expect(await refused({ session_id: randomUUID(), evaluators: [judge] }))
    .toMatchObject({ status: 404 })
  expect((await wire.send('POST', '/runs/rules/trigger', {})).status).toBe(422)
})

it.concurrent('An alert rule of the hosted API is kept, tested, changed, and calls its webhook',
  async () => {
    const project = await wire.project('watched')
    const root = `/platform/alerts/${project}`
    const url = `${receiver.url}hosted`
    const body = (rule: object) => ({
      rule: { name: 'Failures', description: 'Too many', type: 'threshold',
        attribute: 'error_count', aggregation: 'pct', operator: 'gte', threshold: 0.5,
        window_minutes: 5, ...rule },
      actions: [{ target: 'webhook',
        config: { url, headers: { 'X-Secret': 'hush' }, body: { channel: 'c' } } }],
    })
    const made = await wire.send('POST', root, body({}))
    expect(made).toMatchObject({ status: 201,
      body: { rule: { ...body({}).rule, session_id: project, session_name: 'watched' },
        actions: [{ target: 'webhook', config: { url } }] } })
    expect(JSON.stringify(made.body)).not.toContain('hush')
    const { rule: { id } } = made.body as { readonly rule: { readonly id: string } }
    expect((await wire.send('GET', `${root}/${id}`)).body).toEqual(made.body)
    expect((await wire.send('GET', root)).body).toEqual([made.body])
    const called = () => receiver.received.filter(({ path }) => path === '/hosted')
    expect(await wire.send('POST', `${root}/test?alert_rule_id=${id}`)).toMatchObject({
      status: 200,
    })
    expect(called()).toHaveLength(1)
    expect(called()[0]!.headers['x-secret']).toBe('hush')
    expect(
      (await wire.send('POST', `${root}/test`, { target: 'webhook',
        config: { url: 'http://10.0.0.1/' } })).status,
    ).toBe(422)
    expect((await wire.send('POST', `${root}/test`)).status).toBe(422)
    await wire.end(project, [{ id: randomUUID(), error: 'It failed.' }])
    await eventually(async () => expect(called()).toHaveLength(2))
    expect(JSON.parse(called()[1]!.body)).toMatchObject({ channel: 'c', alert_rule_id: id,
      alert_rule_attribute: 'error_count', triggered_metric_value: 1, triggered_threshold: 0.5,
      project_name: 'watched' })
    expect(await wire.send('PATCH', `${root}/${id}`, body({ operator: 'lt' })))
      .toMatchObject({ status: 200, body: { message: 'The alert rule was updated.' } })
    expect((await wire.send('GET', `${root}/${id}`)).body).toMatchObject({ rule: {
      operator: 'lt',
    } })
    const other = await wire.project('other')
    expect((await wire.send('GET', `/platform/alerts/${other}/${id}`)).status).toBe(404)
    expect((await wire.send('DELETE', `${root}/${id}`)).status).toBe(200)
    expect((await wire.send('GET', `${root}/${id}`)).status).toBe(404)
    expect(await wire.send('POST', root, body({ type: 'change' }))).toMatchObject({ status: 422 })
  }, 60_000)

it.runIf(isNight)('A webhook gets each run once, with a key; what a rule made is left alone',
  async () => {
    const project = await wire.project('passed on')
    const rule = await wire.rule({ display_name: 'Tell', session_id: project,
      webhooks: [{ url: receiver.url, headers: { 'X-Secret': 'hush' } }] })
    const [first, made] = [randomUUID(), randomUUID()]
    await wire.end(project, [{ id: first }, { id: made, extra: { metadata: { __rule: rule } } }])
    await eventually(async () => expect(await wire.log(rule)).toHaveLength(2))
    // The same end again has the same key.
    await wire.end(project, [{ id: first }])
    await eventually(async () => expect(await wire.log(rule)).toHaveLength(3))
    const mine = receiver.received.filter(({ body }) => body.includes(rule))
    expect(new Set(mine.map(({ headers }) => headers['idempotency-key'])).size).toBe(1)
    expect(mine[0]!.headers['x-secret']).toBe('hush')
    expect(JSON.parse(mine[0]!.body)).toMatchObject({ rule_id: rule, runs: [{ id: first }] })
    expect((await wire.log(rule)).find(({ run_id: id }) => id === made))
      .toMatchObject({ outcome: 'skipped',
        message: 'A rule made this run, so no rule acts on it.' })
    const shown = await wire.send('GET', `/runs/rules/${rule}`)
    expect(JSON.stringify(shown.body)).not.toContain('hush')
    // Sent back hidden, the header stays.
    await wire.send('PATCH', `/runs/rules/${rule}`, {
      webhooks: (shown.body as { readonly webhooks: unknown }).webhooks,
    })
    const second = randomUUID()
    await wire.end(project, [{ id: second }])
    await eventually(() => {
      const one = receiver.received.find(({ body }) => body.includes(second))
      expect(one?.headers['x-secret']).toBe('hush')
      return Promise.resolve()
    })
  }, 60_000)

it.runIf(isNight)('An alert fires once for a crossing', async () => {
  const project = await wire.project('alerted')
  const rule = await wire.rule({ display_name: 'Errors', session_id: project, alerts: [
    { metric: 'error_count', threshold: 1, window_minutes: 60, url: `${receiver.url}alert` },
  ] })
  const fail = () => ({ id: randomUUID(), error: 'It failed.' })
  await wire.end(project, [fail(), fail()])
  await eventually(async () => expect(await wire.log(rule)).toMatchObject([{ outcome: 'alert' }]))
  await wire.end(project, [fail()])
  await eventually(async () => {
    const { body } = await wire.send('GET', `/runs/rules/${rule}/last_applied`)
    expect(body).toMatchObject({ looked_at: 3, alerts_firing: 1 })
  })
  const called = receiver.received.filter(({ path }) => path === '/alert')
  expect(called).toHaveLength(1)
  expect(JSON.parse(called[0]!.body)).toMatchObject({ metric: 'error_count', value: 2,
    message: 'Errors: error count is 2, above 1, over the last 60 minutes.' })
}, 60_000)
