/** Datasets of a real server: what is refused, and why, and that nothing of it stays. */

import { randomUUID } from 'node:crypto'

import { describe, expect, it } from 'vitest'

import { useServer } from '../../support/server.ts'
import { ask } from '../../support/wire.ts'
import type { JsonAnswer } from '../../support/wire.ts'
import { bodyOf, partsType } from './dataset-cases.ts'

const server = useServer()

const send = (method: string, path: string, body?: unknown, type?: string) =>
  ask(server.url, method, `/api/v1${path}`, body,
    type === undefined ? {} : { 'content-type': type })

async function good<Body>(...request: Parameters<typeof send>): Promise<Body> {
  const { status, body } = await send(...request)
  expect(status, JSON.stringify(body)).toBeLessThan(300)
  return body as Body
}

function expectRefused({ status, body }: JsonAnswer, wanted: number, message: string | RegExp) {
  const { detail } = body as { readonly detail: string }
  expect([status, detail]).toEqual([wanted,
    typeof message === 'string' ? message : expect.stringMatching(message)])
}

interface Dataset {
  readonly id: string
  readonly name: string
  readonly example_count: number
}
interface Example {
  readonly id: string
  readonly inputs: Readonly<Record<string, unknown>>
  readonly outputs: Readonly<Record<string, unknown>> | null
}

const newName = () => `d ${randomUUID()}`
const made = (more: object = {}) => good<Dataset>('POST', '/datasets', { name: newName(), ...more })
const listed = (dataset: string, query = '') =>
  good<readonly Example[]>('GET', `/examples?dataset=${dataset}${query}`)
const textOf = ({ id, inputs }: Example) => [id, inputs['q']]

describe('examples', () => {
  const schema = { type: 'object', required: ['q'], properties: { q: { type: 'string' } } }

  it('that fit no schema are refused with all that came with them', async () => {
    const { id } = await made({ inputs_schema_definition: schema,
      outputs_schema_definition: { properties: { a: { type: 'integer' } },
        additionalProperties: false } })
    const [first, second] = [randomUUID(), randomUUID()]
    const bulk = (inputs: object, outputs: object = {}) =>
      send('POST', '/examples/bulk', [
        { id: first, dataset_id: id, inputs: { q: 'fits' } },
        { id: second, dataset_id: id, inputs, outputs },
      ])
    expectRefused(await bulk({}), 422, `Example ${second}: inputs.q is missing.`)
    expectRefused(await bulk({ q: 1 }), 422, `Example ${second}: inputs.q is no string.`)
    expectRefused(await bulk({ q: '' }, { a: 1.5 }), 422,
      `Example ${second}: outputs.a is no integer.`)
    expectRefused(await bulk({ q: '' }, { b: 1 }), 422,
      `Example ${second}: outputs.b may not be there.`)
    expectRefused(await bulk([]), 422, `Example ${second}: inputs is no object.`)
    expect(await listed(id)).toEqual([])
    await good('POST', '/examples', { id: first, dataset_id: id, inputs: { q: 'fits' } })
    expectRefused(await send('PATCH', `/examples/${first}`, { inputs: { q: null } }), 422,
      `Example ${first}: inputs.q is no string.`)
    expect((await listed(id)).map(textOf)).toEqual([[first, 'fits']])
  })

  it('are not checked with what could take for ever', async () => {
    for (const [sent, message] of [
      [{ properties: { q: { pattern: '(a+)+$' } } },
        /: pattern is not checked here\. Leave it out/],
      [[], /: a schema is an object/],
      [{ description: 'x'.repeat(50_000) }, /: a schema may have 48 KB/],
    ] as const) {
      const answer = await send('POST', '/datasets', { name: newName(),
        inputs_schema_definition: sent })
      expectRefused(answer, 422, message)
    }
    const { id } = await made({ inputs_schema_definition: { $ref: '#' } })
    expectRefused(await send('POST', '/examples', { dataset_id: id, inputs: {} }), 422,
      /inputs is too much to check with this schema/)
  })

  it('with a known id are the same example, or are refused', async () => {
    const { id } = await made()
    const example = { id: randomUUID(), dataset_id: id, inputs: { q: 'one' } }
    await good('POST', '/examples', example)
    await good('POST', '/examples', example)
    expectRefused(await send('POST', '/examples', { ...example, inputs: { q: 'two' } }), 409,
      `Example ${example.id} already exists.`)
    expectRefused(
      await send('POST', '/examples/bulk', [{ ...example, id: randomUUID() }, example, example]),
      422,
      'An example is in this request twice.',
    )
    expect((await listed(id)).map(textOf)).toEqual([[example.id, 'one']])
    expect(await good('GET', `/datasets/${id}/versions`)).toHaveLength(1)
  })

  it('of a run have what the run has, as long as there is room', async () => {
    const run = randomUUID()
    const stamp = `20991126T200000000000Z${run}`
    const inputs = { q: 'x'.repeat(900_000) }
    await good('POST', '/runs/batch', {
      post: [{ id: run, trace_id: run, dotted_order: stamp, name: 'copied', run_type: 'chain',
        session_name: 'copied', inputs, outputs: { a: 1 }, start_time: Date.now(),
        end_time: Date.now() }],
      patch: [],
    })
    const { id } = await made()
    const copy = { dataset_id: id, source_run_id: run, use_source_run_io: true }
    await good('POST', '/examples', copy)
    const [example] = await listed(id)
    expect([example?.inputs, example?.outputs]).toEqual([inputs, { a: 1 }])
    const copies = Array.from({ length: 80 }, () => copy)
    expectRefused(await send('POST', '/examples/bulk', copies), 413,
      'A request may copy 64 MiB of runs.')
    const unknown = randomUUID()
    expectRefused(await send('POST', '/examples', { ...copy, source_run_id: unknown }), 404,
      `Run ${unknown} not found.`)
    expect(await listed(id)).toHaveLength(1)
  })
})

describe('files', () => {
  const upload = (file: string, more: object = { input_keys: 'q' }) => {
    const name = newName()
    return { name,
      answer: send('POST', '/datasets/upload', bodyOf({ name, ...more, file }), partsType) }
  }

  it.each([
    ['an open quotation', 'q\r\n"open', /^file: line 2 has a quotation mark that nothing ends\.$/],
    ['text behind a quotation', 'q\r\n"a" b\r\n',
      /^file: line 2 has text behind the end of a quoted field\.$/],
    ['a quotation in a field', 'q\r\nfine\r\n"two\r\nlines"\r\nb"ad\r\n',
      /^file: line 5 has a quotation mark inside a field without any\.$/],
    ['a column too few', 'other\r\n1\r\n', /^file: it has no column "q"\.$/],
    ['nothing', '', /^file: it has no line of names\.$/],
    ['a broken line of JSON', '{"q":1}\n{"q":\n', /^file: line 2 is no JSON\.$/],
    ['a line that is no object', '{"q":1}\n[1]\n', /^file: line 2 is no object\.$/],
    ['a long line', `{"q":"${'x'.repeat(1024 * 1024)}"}\n`, /^An example may have 1 MiB/],
  ])('with %s become no dataset', async (_, file, message) => {
    const { name, answer } = upload(file)
    const { status, body } = await answer
    expect([422, 413], JSON.stringify(body)).toContain(status)
    expect((body as { readonly detail: string }).detail).toMatch(message)
    expect(await good('GET', `/datasets?name=${encodeURIComponent(name)}`)).toEqual([])
  })

  it('give their examples once, in their order', async () => {
    const { name, answer } = upload('q,a\r\n1,"x, ""y"""\r\n\r\n2,\r\n', { input_keys: 'q',
      output_keys: 'a' })
    const { status, body } = await answer
    expect(status).toBe(200)
    const { id, example_count: count } = body as Dataset
    expect(count).toBe(2)
    expect((await listed(id)).map(({ inputs, outputs }) => [inputs, outputs])).toEqual([
      [{ q: '1' }, { a: 'x, "y"' }],
      [{ q: '2' }, { a: '' }],
    ])
    const again = bodyOf({ name, input_keys: 'q', output_keys: 'a', file: 'q,a\r\n1,2\r\n' })
    expect((await send('POST', '/datasets/upload', again, partsType)).status).toBe(409)
  })

  it('without a file, or that are none, are refused', async () => {
    const name = newName()
    expectRefused(await send('POST', '/datasets/upload', bodyOf({ name }), partsType), 422,
      'file: it is missing.')
    const cut = bodyOf({ name, file: 'q\r\n1' }).slice(0, -12)
    expectRefused(await send('POST', '/datasets/upload', cut, partsType), 400,
      'The body ends before its end.')
    expect((await send('POST', '/datasets/upload', { name })).status).toBe(400)
  })
})

describe('experiments that ran elsewhere', () => {
  const rowOf = (q: string, id: string = randomUUID()) => ({ row_id: id, inputs: { q },
    expected_outputs: { a: q.toUpperCase() }, actual_outputs: { a: q }, run_name: `run ${q}`,
    run_metadata: { of: q }, start_time: '2026-11-26T20:00:00.000001Z',
    end_time: '2026-11-26T20:00:02Z', evaluation_scores: [{ key: 'right', score: 0.5 }] })
  type Row = Partial<ReturnType<typeof rowOf>> & { readonly error?: string }
  const bodyOfRows = (results: readonly Row[], more: object = {}) => ({
    experiment_name: `x ${randomUUID()}`,
    experiment_start_time: '2026-11-26T20:00:00Z',
    experiment_end_time: '2026-11-26T20:01:00Z',
    experiment_metadata: { model: 'm' },
    dataset_name: newName(),
    results,
    ...more,
  })
  const upload = (body: object) => send('POST', '/datasets/upload-experiment', body)
  const uploaded = (body: object) =>
    good<{ readonly dataset: Dataset; readonly experiment: { readonly id: string } }>('POST',
      '/datasets/upload-experiment', body)

  it('are read whole when they are answered, and once if they are sent twice', async () => {
    const rows = [rowOf('one'), rowOf('two')]
    const body = bodyOfRows([...rows, { ...rows[0]!, error: 'late', evaluation_scores: [] }], {
      summary_experiment_scores: [{ key: 'mean', score: 0.25,
        feedback_config: { type: 'continuous', min: 0, max: 1 } }],
    })
    const { dataset, experiment } = await uploaded(body)
    expect(dataset).toMatchObject({ name: body.dataset_name, example_count: 2, session_count: 1 })
    expect(experiment).toMatchObject({ name: body.experiment_name, reference_dataset_id: dataset.id,
      start_time: '2026-11-26T20:00:00.000000+00:00', extra: { metadata: { model: 'm' } } })
    expect(await uploaded(body)).toMatchObject({ dataset: { id: dataset.id, example_count: 2 },
      experiment: { id: experiment.id } })
    const beside = await good<readonly Record<string, unknown>[]>('POST',
      `/datasets/${dataset.id}/runs`, { session_ids: [experiment.id] })
    const run = { name: 'run one', inputs: { q: 'one' }, outputs: { a: 'one' },
      start_time: '2026-11-26T20:00:00.000001' }
    expect(beside.map(({ id, outputs, runs }) => [id, outputs, (runs as object[]).length]))
      .toEqual([[rows[0]!.row_id, { a: 'ONE' }, 2], [rows[1]!.row_id, { a: 'TWO' }, 1]])
    expect(beside[0]!['runs']).toEqual(expect.arrayContaining([
      expect.objectContaining({ ...run, status: 'success',
        feedback_stats: { right: expect.objectContaining({ n: 1, avg: 0.5 }) as object } }),
      expect.objectContaining({ ...run, status: 'error', error: 'late' }),
    ]))
    expect(await good('GET', `/sessions/${experiment.id}?include_stats=true`)).toMatchObject({
      run_count: 3,
      feedback_stats: { right: { n: 2 } },
      session_feedback_stats: { mean: { n: 1, avg: 0.25 } },
    })
    expect(await good('GET', '/feedback-configs?key=mean')).toHaveLength(1)
    const more = await uploaded({ ...body, experiment_name: `${body.experiment_name} again`,
      experiment_start_time: '2026-11-26T20:00:30Z',
      results: [{ ...rows[1]!, expected_outputs: undefined }, rowOf('three')] })
    expect(more.dataset).toMatchObject({ id: dataset.id, example_count: 3, session_count: 2 })
    expect(more.experiment.id).not.toBe(experiment.id)
    const grouped = await good<{ readonly groups: readonly object[] }>('POST',
      `/datasets/${dataset.id}/experiments/grouped`, { metadata_keys: ['model', 'other'] })
    expect(grouped.groups).toMatchObject([{ group: { model: 'm', other: null }, count: 2,
      run_count: 5, error_rate: 0.2, feedback_stats: { right: { n: 4, avg: 0.5 } },
      session_feedback_stats: { mean: { n: 2, avg: 0.25 } },
      experiments: [{ run_count: 2 }, { id: experiment.id, run_count: 3 }] }])
    const ask = { metadata_keys: ['model'], experiment_limit: 1 }
    expect(await good('POST', `/datasets/${dataset.id}/experiments/grouped`, ask))
      .toMatchObject({ groups: [{ count: 1, run_count: expect.any(Number) as number }] })
    expectRefused(
      await send('POST', `/datasets/${dataset.id}/experiments/grouped`, { ...ask,
        filter: 'eq(name, "x")' }),
      422,
      /^filter: it is not offered/,
    )
  })

  it('that are refused leave nothing behind, and say where', async () => {
    const id = randomUUID()
    const row = rowOf('one', id)
    const wrong: readonly (readonly [body: object, status: number, message: string])[] = [
      [bodyOfRows([row], { experiment_name: null }), 422, 'experiment_name: it is missing.'],
      [bodyOfRows([row], { dataset_name: ' ' }), 422, 'dataset_name: expected it or dataset_id.'],
      [bodyOfRows([row], { experiment_end_time: '2026-11-26T19:00:00Z' }), 422,
        'experiment_end_time: expected a time after its start.'],
      [bodyOfRows([row, { ...row, row_id: 'x' }]), 422, 'results[1].row_id: expected a UUID.'],
      [bodyOfRows([{ ...row, inputs: [] as never }]), 422,
        'results[0].inputs: expected an object.'],
      [bodyOfRows([{ ...row, start_time: 'soon' }]), 422,
        'results[0].start_time: expected a time.'],
      [bodyOfRows([row, { ...row, inputs: { q: 'two' } }]), 422,
        `results: row_id ${id}: expected the same inputs and expected_outputs each time.`],
      [bodyOfRows([{ ...row, evaluation_scores: [{ key: '', score: 1 }] }]), 422,
        'results[0].evaluation_scores[0].key: expected a text of 1 to 180 characters.'],
      [bodyOfRows(Array.from({ length: 10_001 }, () => ({}))), 413, 'results: there may be 10000.'],
    ]
    for (const [body, status, message] of wrong) expectRefused(await upload(body), status, message)
    const { dataset_name: name } = wrong[3]![0] as { readonly dataset_name: string }
    expect(await good('GET', `/datasets?name=${encodeURIComponent(name)}`)).toEqual([])

    const first = bodyOfRows([row])
    const { dataset } = await uploaded(first)
    const other = bodyOfRows([rowOf('two'), { ...row, inputs: { q: 'other' } }], {
      dataset_name: dataset.name,
    })
    expectRefused(await upload(other), 409, /already exists with other inputs/)
    expectRefused(
      await upload({ ...other, results: [row, rowOf('two')],
        experiment_name: first.experiment_name }),
      409,
      /exists/,
    )
    expect(await good('GET', `/datasets/${dataset.id}`))
      .toMatchObject({ example_count: 1, session_count: 1 })
    expect(await good('GET', `/sessions?name=${encodeURIComponent(other.experiment_name)}`))
      .toEqual([])
    const strict = await made({ inputs_schema_definition: { required: ['must'] } })
    expectRefused(await upload(bodyOfRows([row], { dataset_id: strict.id })), 422,
      /inputs.must is missing/)
    expect(await good('GET', `/datasets/${strict.id}`))
      .toMatchObject({ example_count: 0, session_count: 0 })
  })

  it('of several hundred rows are taken in at once', async () => {
    const rows = Array.from({ length: 600 }, (_, index) => rowOf(`row ${index}`))
    const { dataset, experiment } = await uploaded(bodyOfRows(rows))
    expect(dataset.example_count).toBe(600)
    expect(await good('GET', `/sessions/${experiment.id}?include_stats=true`))
      .toMatchObject({ run_count: 600, feedback_stats: { right: { n: 600 } } })
  })
})

it('An example is checked without being made', async () => {
  const { id: dataset } = await made({ inputs_schema_definition: { required: ['q'] } })
  const one = { dataset_id: dataset, inputs: { q: 1 }, split: 'train', metadata: { a: 1 } }
  expect(await good('POST', '/examples/validate', one))
    .toEqual({ id: null, created_at: null, dataset_id: dataset, inputs: { q: 1 }, outputs: null,
      metadata: { a: 1 }, overwrite: false, source_run_id: null, split: ['train'],
      use_source_run_io: false })
  expect(await good('POST', '/examples/validate/bulk', [one, one])).toHaveLength(2)
  expect(await listed(dataset)).toEqual([])
  const { id } = await good<Example>('POST', '/examples', one)
  for (const [body, status, message] of [
    [{ ...one, inputs: {} }, 422, /inputs.q is missing/],
    [{ ...one, id, inputs: { q: 2 } }, 409, /already exists/],
    [[one, one], 422, /^The body is no example/],
    [{ ...one, dataset_id: randomUUID() }, 404, /^Dataset not found/],
    [{ inputs: {} }, 422, /^dataset_id/],
  ] as const) expectRefused(await send('POST', '/examples/validate', body), status, message)
})

describe('names', () => {
  it('are not looked for with metadata that are no JSON', async () => {
    for (const path of ['/datasets', '/sessions', '/examples']) {
      const { status, body } = await send('GET', `${path}?metadata=%7B`)
      expect([status, (body as { readonly detail: string }).detail])
        .toEqual([422, 'metadata: this is not JSON.'])
    }
  })

  it('of datasets are taken once', async () => {
    const [{ name }, { id }] = [await made(), await made()]
    expect((await send('POST', '/datasets', { name })).status).toBe(409)
    expect((await send('PATCH', `/datasets/${id}`, { name })).status).toBe(409)
    expectRefused(await send('POST', '/datasets', { name: ' ' }), 422, 'name: a dataset needs one.')
  })

  it('of versions are moved, and mean one version each', async () => {
    const { id } = await made()
    const tagged = (tag: string, asOf: string) =>
      send('PUT', `/datasets/${id}/tags`, { tag, as_of: asOf })
    expect((await tagged('none', 'latest')).status).toBe(404)
    const [first, second] = [randomUUID(), randomUUID()]
    await good('POST', '/examples', { id: first, dataset_id: id, inputs: { q: 1 } })
    await good('PUT', `/datasets/${id}/tags`, { tag: 'good', as_of: 'latest' })
    await good('PUT', `/datasets/${id}/tags`, { tag: '__proto__', as_of: 'latest' })
    await good('POST', '/examples', { id: second, dataset_id: id, inputs: { q: 2 } })
    const idsAt = async (tag: string) =>
      (await listed(id, `&as_of=${encodeURIComponent(tag)}`)).map((each) => each.id)
    expect(await idsAt('good')).toEqual([first])
    // Two that name different versions at once: one of them is it, and is it for all.
    const [newer, older] = await Promise.all([tagged('good', 'latest'),
      tagged('good', '__proto__')])
    expect([newer.status, older.status]).toEqual([200, 200])
    const { as_of: now } = await good<{ readonly as_of: string }>('GET',
      `/datasets/${id}/version?tag=good`)
    expect([newer, older].map(({ body }) => (body as { as_of: string }).as_of)).toContain(now)
    expect(await idsAt('__proto__')).toEqual([first])
    expectRefused(await tagged('latest', '__proto__'), 422, 'tag: latest is the newest version.')
    expect((await tagged('good', 'nothing')).status).toBe(404)
    expect((await send('GET', `/examples?dataset=${id}&as_of=constructor`)).status).toBe(404)
    // A tag that looks like a time is looked for before the time.
    await good('PUT', `/datasets/${id}/tags`, { tag: '2001-01-01', as_of: '__proto__' })
    expect(await idsAt('2001-01-01')).toEqual([first])
    expect(await idsAt('2001-01-02')).toEqual([])
  })
})
