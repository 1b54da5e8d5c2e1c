/** What anybody reads with the link to a trace or to a file, and nothing besides. */

import { createHmac } from 'node:crypto'

import { Client } from 'langsmith'
import { RunTree } from 'langsmith/run_trees'
import { beforeAll, expect, it } from 'vitest'

import { isNight } from '../../support/repeats.ts'
import { useTenant } from '../../support/tenant.ts'

const server = useTenant({ kills: isNight })

/** Media types that a page of this server could run, if it were answered with them. */
const scripts = ['text/javascript', 'application/ecmascript', 'text/html', 'image/svg+xml',
  'application/xhtml+xml', 'text/css', 'text/javascript; charset=utf-8']

let client: Client
let [root, child, other] = ['', '', '']
let project = ''

const get = (path: string, method = 'GET', body?: unknown) => server.ask(method, path, body)

beforeAll(async () => {
  client = new Client({ apiUrl: `${server.url}/api/v1`, apiKey: server.key,
    autoBatchTracing: true })
  const options = { client, project_name: 'shared' }
  const tree = new RunTree({ ...options, name: 'root', run_type: 'chain', inputs: { a: 1 },
    extra: { metadata: { thread_id: 'one' } },
    attachments: { picture: ['image/png', new Uint8Array([1, 2, 3])],
      'odd (ö)': ['nothing', new Uint8Array([60, 62])],
      ...Object.fromEntries(scripts.map((type) => [type, [type, new Uint8Array([97])]])) } })
  const branch = tree.createChild({ name: 'branch', run_type: 'llm', inputs: { b: 2 } })
  const strange = new RunTree({ ...options, name: 'other', run_type: 'chain', inputs: {},
    extra: { metadata: { thread_id: 'two' } } })
  for (const each of [tree, branch, strange]) await each.postRun()
  for (const each of [branch, tree, strange]) {
    await each.end({ done: true })
    await each.patchRun()
  }
  await client.awaitPendingTraceBatches()
  ;[root, child, other] = [tree.id, branch.id, strange.id]
  project = ((await get(`/api/v1/runs/${root}`)).body as { session_id: string }).session_id
  await client.createFeedback(child, 'good', { score: 1, comment: 'told' })
  await client.createFeedback(other, 'good', { score: 0, comment: 'secret' })
})

const tokenIn = (link: string) => /\/public\/([0-9a-f-]{36})\/r$/.exec(link)![1]!

it('The client shares a trace, reads it, and takes it back', async () => {
  expect(await client.readRunSharedLink(root)).toBeUndefined()
  const link = await client.shareRun(child, { shareId: root })
  const token = tokenIn(link)
  expect(token).not.toBe(root)
  expect(await client.shareRun(root)).toBe(link)
  expect(await client.readRunSharedLink(root)).toBe(link)
  const names = (runs: readonly { name: string }[]) => runs.map(({ name }) => name).sort()
  expect(names(await client.listSharedRuns(token))).toEqual(['branch', 'root'])
  expect(names(await client.listSharedRuns(token, { runIds: [child, other] }))).toEqual(['branch'])
  const shown = `/api/v1/public/${token}`
  expect((await get(`${shown}/run`)).body).toMatchObject({ id: root, inputs: { a: 1 } })
  expect((await get(`${shown}/run/${child}`)).body).toMatchObject({ id: child })
  expect((await get(`${shown}/run/${other}`)).status).toBe(404)
  for (const body of [{ id: [other] }, { parent_run: other, id: [other] }, { trace: other,
    id: [other] }]) {
    expect((await get(`${shown}/runs/query`, 'POST', body)).body).toMatchObject({ runs: [] })
  }
  for (const body of [{}, { trace: other }, { session: [project] }, {
    trace_filter: 'eq(name, "x")',
  }, { parent_run: other }]) {
    const { body: page } = await get(`${shown}/runs/query`, 'POST', body)
    expect(names((page as { runs: { name: string }[] }).runs)).toEqual(['branch', 'root'])
  }
  for (const at of [shown, `/api/v2/public/${token}`]) {
    const { status, body } = await get(`${at}/runs/query`, 'POST', { filter: 'search("x")' })
    expect(status).toBe(422)
    expect(JSON.stringify(body)).toContain('A share link answers no filter')
  }
  expect(JSON.stringify((await get(`${shown}/feedbacks`)).body)).toContain('told')
  expect(JSON.stringify((await get(`${shown}/feedbacks?run=${other}`)).body)).toBe('[]')
  const v2 = await get(`/api/v2/public/${token}/runs/query`, 'POST', { selects: ['NAME'],
    trace_id: other, project_ids: [other] })
  expect(names((v2.body as { items: { name: string }[] }).items)).toEqual(['branch', 'root'])
  expect((await get(`/api/v2/public/${token}/run/${child}?selects=NAME`)).status).toBe(200)
  expect((await get(`/api/v2/public/${token}/run/${other}?selects=NAME`)).status).toBe(404)
  const { body: own } = await get(`/api/v2/runs/${child}?project_id=${project}&selects=SHARE_URL`)
  expect(own).toMatchObject({ share_url: `${server.url}/studio/public/${token}` })
  await client.unshareRun(child)
  expect(await client.readRunSharedLink(root)).toBeUndefined()
  expect((await get(`${shown}/run`)).status).toBe(404)
  expect((await get(`${shown}/runs/query`, 'POST', {})).status).toBe(404)
  await client.unshareRun(root)
  expect(tokenIn(await client.shareRun(root))).not.toBe(token)
})

it('The newer API shares traces and conversations', async () => {
  const at = `/api/v2/runs/${root}/share`
  const made = await get(at, 'POST', { session_id: project, trace_id: root })
  const { share_token: token } = made.body as { share_token: string }
  expect((await get(`/api/v1/public/${token}/run`)).status).toBe(200)
  expect((await get(at, 'DELETE', { session_id: project })).status).toBe(204)
  expect((await get(at, 'DELETE', { session_id: project })).status).toBe(204)
  expect((await get(`/api/v1/public/${token}/run`)).status).toBe(404)
  const thread = `/api/v2/threads/one/share`
  const asked = `${thread}?project_id=${project}`
  expect((await get(asked)).body).toEqual({})
  const { body } = await get(thread, 'POST', { project_id: project })
  expect((await get(asked)).body).toEqual(body)
  const shown = `/api/v2/public/${(body as { share_token: string }).share_token}`
  const { body: page } = await get(`${shown}/runs/query`, 'POST', { selects: ['NAME'] })
  expect((page as { items: { id: string }[] }).items.map(({ id }) => id).sort())
    .toEqual([root, child].sort())
  expect((await get(`${shown}/run/${child}`)).status).toBe(200)
  expect((await get(`${shown}/run/${other}`)).status).toBe(404)
  expect((await get(asked, 'DELETE')).status).toBe(204)
  expect((await get(`${shown}/runs/query`, 'POST', {})).status).toBe(404)
  expect((await get('/api/v2/threads/none/share', 'POST', { project_id: project })).status).toBe(
    404,
  )
})

it('The address of a run is that of its page', async () => {
  const urlOf = async (id: string) =>
    (await get(`/api/v2/runs/${id}/url?project_id=${project}`)).body
  const page = `${server.url}/studio/traces/${project}/${root}`
  expect(await urlOf(root)).toEqual({ url: page })
  expect(await urlOf(child)).toEqual({ url: `${page}?span=${child}` })
})

it('The client shares a dataset, and reads it', async () => {
  const dataset = await client.createDataset('shown')
  const hidden = await client.createDataset('hidden')
  const shown = await client.createExample({ inputs: { a: 1 }, outputs: { b: 2 },
    dataset_id: dataset.id,
    attachments: { text: { mimeType: 'text/plain', data: new Uint8Array([104, 105]) } } })
  await client.createExample({ inputs: { secret: 1 }, dataset_id: hidden.id })
  const { share_token: token } = await client.shareDataset(dataset.id)
  expect(await client.readDatasetSharedSchema(dataset.id)).toMatchObject({ share_token: token })
  expect(await client.readSharedDataset(token)).toMatchObject({ id: dataset.id, name: 'shown' })
  const [example, ...more] = await client.listSharedExamples(token)
  expect([example!.inputs, more]).toEqual([{ a: 1 }, []])
  const { attachment_urls: urls } = example as unknown as {
    attachment_urls: Record<string, { presigned_url: string }>
  }
  const file = await fetch(urls['attachment.text']!.presigned_url)
  expect([file.headers.get('content-type'), await file.text()]).toEqual(['text/plain', 'hi'])
  expect(await client.listSharedExamples(token, { exampleIds: [shown.id] })).toHaveLength(1)
  expect((await get(`/api/v1/public/${token}/examples/count`)).body).toBe(1)
  expect((await get(`/api/v1/public/${token}/datasets/sessions`)).body).toEqual([])
  expect((await get(`/api/v1/public/${token}/run`)).status).toBe(404)
  await client.unshareDataset(dataset.id)
  for (const path of ['datasets', 'examples', 'examples/count', 'datasets/sessions']) {
    expect((await get(`/api/v1/public/${token}/${path}`)).status).toBe(404)
  }
  expect((await get(`/api/v1/datasets/${dataset.id}/share`)).body).toBeNull()
})

it('Tokens that are wrong lead nowhere', async () => {
  const token = tokenIn(await client.shareRun(root))
  for (const wrong of [token.slice(1), token.replace(/.$/, (end) => (end === '0' ? '1' : '0')), 'x',
    '%00', "' OR 1=1", root]) {
    expect((await get(`/api/v1/public/${encodeURIComponent(wrong)}/run`)).status).toBe(404)
  }
  expect((await get(`/api/v1/runs/${crypto.randomUUID()}/share`, 'PUT', {})).status).toBe(404)
  if (isNight) {
    await server.process.kill('SIGKILL')
    await server.process.restart()
  }
  expect((await get(`/api/v1/public/${token}/run`)).body).toMatchObject({ id: root })
})

it('Attachments are read by links that are signed and end', async () => {
  const run = (await get(`/api/v1/runs/${root}`)).body as {
    s3_urls: Record<string, { presigned_url: string; mime_type: string }>
  }
  const { presigned_url: path, mime_type: type } = run.s3_urls['attachment.picture']!
  expect(type).toBe('image/png')
  expect(path).toMatch(new RegExp(`^${server.url}/api/v1/public/download\\?jwt=`))
  const read = (url: string) => fetch(new URL(url, `${server.url}/api/v1`))
  const file = await read(path)
  expect([...new Uint8Array(await file.arrayBuffer())]).toEqual([1, 2, 3])
  expect(Object.fromEntries(file.headers)).toMatchObject({ 'content-type': 'image/png',
    'x-content-type-options': 'nosniff',
    'content-disposition': "attachment; filename*=UTF-8''picture" })
  const odd = await read(run.s3_urls['attachment.odd (ö)']!.presigned_url)
  expect(odd.headers.get('content-type')).toBe('application/octet-stream')
  expect(odd.headers.get('content-disposition')).toContain('odd%20%28%C3%B6%29')
  for (const type of scripts) {
    const file = await read(run.s3_urls[`attachment.${type}`]!.presigned_url)
    expect([type, file.headers.get('content-type')]).toEqual([type, 'application/octet-stream'])
  }
  const listed = await client.listRuns({ id: [root], select: ['s3_urls'] })[Symbol.asyncIterator]()
    .next()
  expect(JSON.stringify(listed.value)).toContain('/public/download?jwt=')
  const { body: v2 } = await get(`/api/v2/runs/${root}?project_id=${project}&selects=ATTACHMENTS`)
  const { picture } = (v2 as { attachments: Record<string, string> }).attachments
  expect((await fetch(picture!)).status).toBe(200)

  const [head, body, mac] = new URL(path, server.url).searchParams.get('jwt')!.split('.')
  const claims = JSON.parse(Buffer.from(body!, 'base64url').toString()) as { exp: number }
  const forged = (change: object, secret = '') => {
    const text = Buffer.from(JSON.stringify({ ...claims, ...change })).toString('base64url')
    const own = createHmac('sha256', secret).update(`${head}.${text}`).digest('base64url')
    return [`${head}.${text}.${mac}`, `${head}.${text}.${own}`, `${head}.${text}.`]
  }
  const none = Buffer.from('{"alg":"none"}').toString('base64url')
  for (const wrong of [...forged({ name: 'odd (ö)' }), ...forged({ exp: claims.exp - 3_600 }),
    ...forged({ exp: claims.exp + 60 }), ...forged({ tenant: 'x' }), `${none}.${body}.`,
    `${head}.${body}.${mac!.slice(0, -4)}`, `${head}.${body}`, '', 'a.b.c', '%']) {
    const { status } = await read(`/api/v1/public/download?jwt=${encodeURIComponent(wrong)}`)
    expect(status, wrong).toBe(404)
  }
  expect((await read('/api/v1/download')).status).toBe(404)
  await get('/api/v1/runs/delete', 'POST', { session_id: project, trace_ids: [root] })
  expect((await read(path)).status).toBe(404)
})

it('A shared dataset shows its experiments, and nothing of others', async () => {
  const dataset = await client.createDataset('shared with experiments')
  const example = await client.createExample({ dataset_id: dataset.id, inputs: { q: 'asked' } })
  const experiment = async (name: string, more: object) => {
    const { body } = await get('/api/v1/sessions', 'POST', { name, ...more })
    const { id: session } = body as { readonly id: string }
    const run = new RunTree({ client, name: `run of ${name}`, run_type: 'chain', inputs: {},
      project_name: name, reference_example_id: example.id })
    await run.postRun()
    await client.awaitPendingTraceBatches()
    await client.createFeedback(run.id, 'right', { score: 1, comment: `about ${name}` })
    return session
  }
  const own = { reference_dataset_id: dataset.id }
  const [one, two] = [await experiment('first try', own), await experiment('second try', own)]
  const strange = await experiment('secret try', {})
  await get('/api/v1/datasets/comparative', 'POST', { name: 'one or two',
    experiment_ids: [one, two] })
  const { share_token: token } = await client.shareDataset(dataset.id)
  const below = `/api/v1/public/${token}/datasets`
  const shown = async (path: string, method = 'GET', body?: unknown) =>
    JSON.stringify((await get(`${below}/${path}`, method, body)).body)
  const runs = await shown('runs', 'POST', { session_ids: [one, two, strange] })
  expect(runs).toContain('run of first try')
  expect(runs).toContain('run of second try')
  expect(await shown('feedback')).toContain('about second try')
  expect(await shown(`feedback?session=${one}`)).not.toContain('about second try')
  expect(await shown('comparative')).toContain('one or two')
  for (const path of ['feedback', `feedback?session=${strange}`, 'comparative', 'sessions']) {
    expect(await shown(path)).not.toContain('secret')
  }
  expect(runs).not.toContain('secret')
  expect(await shown('../examples/runs', 'POST', {})).toContain('run of first try')
  const [run, secret] = await Promise.all([one, strange].map(async (session) => {
    const { body } = await get('/api/v1/runs/query', 'POST', { session: [session] })
    return (body as { readonly runs: readonly { readonly id: string }[] }).runs[0]!.id
  }))
  expect(await shown(`runs/${run}`)).toContain('run of first try')
  expect((await get(`${below}/runs/${secret}`)).status).toBe(404)
  for (const body of [{}, { id: [run, secret] }, { session: [one, strange] }, { trace: secret }, {
    parent_run: secret,
  }]) {
    expect(await shown('runs/query', 'POST', body)).not.toContain('secret')
    expect(await shown('runs/stats', 'POST', body)).toContain('run_count')
  }
  expect(await shown('runs/query', 'POST', { session: [one], limit: 1 }))
    .toContain('run of first try')
  expect((await get(`${below}/runs/query`, 'POST', { filter: 'eq(name, "x")' })).status).toBe(422)
  expect((await get(`${below}/runs/stats`, 'POST', { session: [one, strange] })).body)
    .toMatchObject({ run_count: 1, feedback_stats: { right: { n: 1 } } })
  expect((await get(`${below}/sessions?include_stats=true&limit=1&offset=1`)).body)
    .toMatchObject([{ name: 'first try', run_count: 1 }])
  const bulk = '/api/v1/public/datasets/sessions-bulk'
  expect((await get(`${bulk}?share_tokens=${token}`)).body).toHaveLength(2)
  expect((await get(bulk)).status).toBe(422)
  await client.unshareDataset(dataset.id)
  expect((await get(`${bulk}?share_tokens=${token}`)).status).toBe(404)
  for (const path of ['feedback', 'comparative', `runs/${run}`]) {
    expect((await get(`${below}/${path}`)).status).toBe(404)
  }
})
