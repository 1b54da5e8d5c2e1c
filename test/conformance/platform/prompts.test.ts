/** Prompts of a real server: one head, whoever races, and bytes that come back as they came. */

import { randomUUID } from 'node:crypto'

import { beforeAll, describe, expect, it } from 'vitest'

import { openKeyMaker } from '../../support/keys.ts'
import { isNight, repeats } from '../../support/repeats.ts'
import { useServer } from '../../support/server.ts'
import { ask } from '../../support/wire.ts'

const server = useServer(
  isNight
    ? { project: 'conformance', args: ['--auth', 'keys', '--hub-handle', 'acme=acme-co'] }
    : 'keys',
)

interface CommitAnswer {
  readonly commit: { readonly id: string; readonly commit_hash: string;
    readonly parent_commit_hash: string | null }
}

interface Said {
  readonly id: string
}

interface Talk {
  readonly comments: readonly Said[]
  readonly total: number
}

let [owner, reader, stranger] = ['', '', '']

beforeAll(async () => {
  const maker = await openKeyMaker(server.place)
  owner = await maker.make('acme-co')
  reader = await maker.make('acme-co', 'reader')
  stranger = await maker.make(`of-others-${randomUUID()}`)
  await maker.close()
})

const send = (method: string, path: string, body?: unknown, key: string = owner) =>
  ask(server.url, method, `/api/v1${path}`, body, key === '' ? {} : { 'x-api-key': key })

async function good<Body>(...request: Parameters<typeof send>): Promise<Body> {
  const { status, body } = await send(...request)
  expect(status, JSON.stringify(body)).toBe(200)
  return body as Body
}

async function made(name: string, more: object = {}): Promise<void> {
  await good('POST', '/repos/', { repo_handle: name, is_public: false, ...more })
}

async function commit(name: string, manifest: unknown, parent?: string) {
  const { commit: made } = await good<CommitAnswer>('POST', `/commits/-/${name}`, { manifest,
    ...parent !== undefined && { parent_commit: parent } })
  return made
}

describe('commits', () => {
  it('of many with the same parent, one wins each round, and the chain is whole', async () => {
    await made('raced')
    let parent = (await commit('raced', { round: 0 })).commit_hash
    const chain = [parent]
    for (const round of [1, 2, 3]) {
      const answers = await Promise.all(
        Array.from({ length: repeats({ day: 25, night: 100 }) }, (_, racer) =>
          send('POST', '/commits/-/raced', { manifest: { round, racer }, parent_commit: parent })),
      )
      const won = answers.filter(({ status }) =>
        status === 200
      )
      expect(won).toHaveLength(1)
      for (const { status, body } of answers) {
        if (status !== 200)
          expect({ status, body }).toMatchObject({ status: 409, body: {
            detail: expect.stringContaining('The newest commit is ') as string,
          } })
      }
      parent = (won[0]!.body as CommitAnswer).commit.commit_hash
      chain.unshift(parent)
    }
    const { commits, total } = await good<{ commits: CommitAnswer['commit'][]; total: number }>(
      'GET',
      '/commits/-/raced/?limit=100&offset=0',
    )
    expect(total).toBe(4)
    expect(commits.map(({ commit_hash: hash }) => hash)).toEqual(chain)
    expect(commits.map(({ parent_commit_hash: hash }) => hash)).toEqual([...chain.slice(1), null])
    for (const hash of chain) {
      expect(await good('GET', `/commits/-/raced/${hash}`)).toMatchObject({ commit_hash: hash })
    }
  })

  it('without a parent come all on top of each other', async () => {
    await made('stacked')
    await Promise.all(Array.from({ length: 20 }, (_, racer) => commit('stacked', { racer })))
    const { commits } = await good<{ commits: CommitAnswer['commit'][] }>('GET',
      '/commits/-/stacked?limit=50')
    expect(commits).toHaveLength(20)
    expect(new Set(commits.map(({ parent_commit_hash: hash }) => hash)).size).toBe(20)
    const pages = await Promise.all(
      [0, 7, 14, 21].map((offset) =>
        good<{ commits: CommitAnswer['commit'][] }>('GET',
          `/commits/-/stacked?limit=7&offset=${offset}`)
      ),
    )
    expect(pages.flatMap((page) => page.commits)).toEqual(commits)
  })

  it('are found again when they are sent again, and keep their bytes', async () => {
    await made('bytes')
    const manifest = '{ "b":1.0,\n"a": "\\u00e9 é 🙂" , "b":1e2}'
    const body = (parent: string) => `{"parent_commit":${parent}, "manifest" : ${manifest} }`
    const first = await good<CommitAnswer>('POST', '/commits/-/bytes', body('null'))
    expect(await good('POST', '/commits/-/bytes', body('null'))).toEqual(first)
    const { commit_hash: hash } = first.commit
    const answer = await fetch(`${server.url}/api/v1/commits/-/bytes/${hash}`, {
      headers: { 'x-api-key': owner },
    })
    expect(await answer.text()).toContain(`"manifest":${manifest},`)
    expect(answer.headers.get('cache-control')).toMatch(/immutable/)
    const unchanged = await send('POST', '/commits/-/bytes', body(`"${hash.slice(0, 8)}"`))
    expect(unchanged).toMatchObject({ status: 409,
      body: { detail: expect.stringContaining('nothing to commit') as string } })
    const second = await commit('bytes', { other: true }, hash)
    expect((await send('POST', '/commits/-/bytes', { manifest: { other: true } })).status).toBe(409)
    await commit('bytes', { third: true }, second.commit_hash)
    // The client repeats what it got no answer for.
    expect(await commit('bytes', { other: true }, hash)).toEqual(second)
    if (isNight) {
      await server.process.kill('SIGKILL')
      await server.process.restart()
    }
    expect(await good('GET', `/commits/-/bytes/${hash.slice(0, 10)}`))
      .toMatchObject({ commit_hash: hash })
  })

  it('are named by hashes, then by tags, which move', async () => {
    await made('tagged')
    const [one, two] = [await commit('tagged', { v: 1 }), await commit('tagged', { v: 2 })]
    const tag = (body: object) => send('POST', '/repos/-/tagged/tags', body)
    expect(await tag({ tag_name: 'prod', commit_id: one.id })).toMatchObject({ status: 200,
      body: { tag_name: 'prod', commit_hash: one.commit_hash } })
    expect(await good('GET', '/commits/-/tagged/prod')).toMatchObject({ manifest: { v: 1 } })
    await good('PATCH', '/repos/-/tagged/tags/prod', { commit_id: two.id })
    expect(await good('GET', '/commits/-/tagged/prod')).toMatchObject({ manifest: { v: 2 } })
    expect(await good('GET', '/repos/-/tagged/tags')).toHaveLength(1)
    for (const name of ['latest', 'deadbeef', 'a b', '']) {
      expect((await tag({ tag_name: name, commit_id: one.id })).status).toBe(422)
    }
    expect((await tag({ tag_name: 'x', commit_id: 'unknown!' })).status).toBe(404)
    await good('DELETE', '/repos/-/tagged/tags/prod')
    expect((await send('GET', '/commits/-/tagged/prod')).status).toBe(404)
  })

  it.each([
    ['no JSON', '{"manifest": {]}', 400],
    ['no manifest', '{}', 422],
    ['an empty body', undefined, 400],
    ['a parent that is no hash', '{"manifest": {}, "parent_commit": "abc"}', 422],
    ['a parent where there is none', `{"manifest": {}, "parent_commit": "${'a'.repeat(64)}"}`, 409],
    ['a long manifest', JSON.stringify({ manifest: 'x'.repeat(1024 * 1024) }), 413],
    ['a longer body', JSON.stringify({ manifest: 'x'.repeat(2 * 1024 * 1024) }), 413],
  ])('with %s are refused, and say why', async (what, body, status) => {
    const name = `refused-${what.replaceAll(' ', '-')}`
    await made(name)
    const answer = await send('POST', `/commits/-/${name}`, body)
    expect(answer).toMatchObject({ status, body: { detail: expect.any(String) as string } })
    expect((await send('GET', `/commits/-/${name}/latest`)).status).toBe(404)
  })

  it('with a model give the prompt, or all of it', async () => {
    await made('modelled')
    const prompt = { lc: 1, type: 'constructor', id: ['PromptTemplate'], kwargs: { a: 1 } }
    const whole = { lc: 1, type: 'constructor', id: ['langchain_core', 'RunnableSequence'],
      kwargs: { first: prompt, last: { lc: 1 } } }
    await commit('modelled', whole)
    expect(await good('GET', '/commits/-/modelled/latest')).toMatchObject({ manifest: prompt })
    expect(await good('GET', '/commits/-/modelled/latest?include_model=true'))
      .toMatchObject({ manifest: whole })
  })
})

describe('prompts', () => {
  it('are listed by what is said of them', async () => {
    await made('list-a', { description: 'Translates NEEDLE texts', tags: ['x', 'y'] })
    await made('list-b', { tags: ['x'], readme: 'r' })
    await made('list-agent', { repo_type: 'agent' })
    await good('PATCH', '/repos/-/list-b', { is_archived: true })
    const listed = async (query: string) =>
      (await good<{ repos: { repo_handle: string }[] }>('GET', `/repos?limit=100&${query}`)).repos
        .map(({ repo_handle: name }) => name).filter((name) => name.startsWith('list-'))
    expect(await listed('query=needle')).toEqual(['list-a'])
    expect(await listed('query=LIST-')).toEqual(['list-b', 'list-a'])
    expect(await listed('tags=x&is_archived=false')).toEqual(['list-a'])
    expect(await listed('tags=x&sort_field=repo_handle&sort_direction=asc'))
      .toEqual(['list-a', 'list-b'])
    expect(await listed('repo_type=agent')).toEqual(['list-agent'])
    await good('POST', '/likes/-/list-b', { like: true })
    expect(await listed('sort_field=num_likes')).toEqual(['list-b', 'list-a'])
    expect((await send('POST', '/repos', { repo_handle: 'list-a', is_public: false })).status)
      .toBe(409)
    expect((await send('POST', '/repos', { repo_handle: 'a/b', is_public: false })).status)
      .toBe(422)
  })

  it('are liked once by each caller', async () => {
    await made('liked')
    const like = (likes: boolean, key?: string) =>
      good('POST', '/likes/-/liked', { like: likes }, key)
    await Promise.all([like(true), like(true)])
    expect(await like(true)).toEqual({ likes: 1 })
    expect(await good('GET', '/repos/-/liked')).toMatchObject({
      repo: { num_likes: 1, liked_by_auth_user: true },
    })
    expect(await good('GET', '/repos/-/liked', undefined, reader)).toMatchObject({
      repo: { num_likes: 1, liked_by_auth_user: false },
    })
    expect(await like(false)).toEqual({ likes: 0 })
  })

  it('are shown to everybody if their owner wants it, and are changed by nobody else', async () => {
    await made('shown', { is_public: true })
    await made('hidden')
    await commit('shown', { v: 1 })
    await commit('hidden', { v: 1 })
    expect(await good('GET', '/commits/-/shown'))
      .toMatchObject({ commits: [{ full_name: expect.stringMatching(/^key /) as string }] })
    for (const key of ['', stranger]) {
      expect(await good('GET', '/commits/acme/shown/latest', undefined, key))
        .toMatchObject({ manifest: { v: 1 } })
      expect(await good('GET', '/repos/acme/shown', undefined, key))
        .toMatchObject({ repo: { full_name: 'acme/shown', owner: 'acme' } })
      expect(await good('GET', '/commits/acme/shown/', undefined, key))
        .toMatchObject({ total: 1, commits: [{ full_name: null }] })
      for (const path of ['/commits/acme/hidden/latest', '/repos/acme/hidden',
        '/commits/acme/hidden', '/commits/-/shown/latest', '/repos/acme-co/shown']) {
        expect((await send('GET', path, undefined, key)).status, path).toBe(404)
      }
    }
    expect((await send('GET', '/commits/acme/shown/latest', undefined, 'unknown')).status)
      .toBe(401)
    expect((await send('GET', '/repos', undefined, '')).status).toBe(401)
    const changes = [['PATCH', '/repos/acme/shown', { readme: 'x' }], ['DELETE',
      '/repos/acme/shown', undefined], ['POST', '/commits/acme/shown', { manifest: {} }], ['POST',
      '/repos/acme/shown/tags', { tag_name: 'x', commit_id: 'latest' }]] as const
    for (const [method, path, body] of changes) {
      expect((await send(method, path, body, stranger)).status, path).toBe(403)
      expect((await send(method, path.replace('shown', 'hidden'), body, stranger)).status).toBe(404)
      expect((await send(method, path, body, '')).status, path).toBe(401)
    }
    expect(await good('POST', '/repos/acme/shown/fork', { repo_handle: 'mine' }, stranger))
      .toMatchObject({ repo: { num_commits: 1, upstream_repo_full_name: 'acme/shown' } })
    expect(await good('GET', '/commits/-/mine/latest', undefined, stranger))
      .toMatchObject({ manifest: { v: 1 } })
    // Who copies a prompt does not get where its owner wants secrets to be sent.
    const lc = (name: string, kwargs: object) => ({ lc: 1, type: 'constructor', id: [name],
      kwargs })
    const prompt = lc('ChatPromptTemplate', { messages: [] })
    const last = lc('ChatOpenAI', { model: 'm', base_url: 'https://evil.example' })
    const sequence = (first: object) => lc('RunnableSequence', { first, last })
    await commit('shown', sequence(prompt))
    for (const key of [stranger, '']) {
      const { status, body } = await send('GET', '/commits/acme/shown/latest?include_model=true',
        undefined, key)
      expect(status).toBe(200)
      expect(body).toMatchObject({ manifest: prompt })
      expect(JSON.stringify(body)).not.toContain('evil.example')
    }
    expect(await good('GET', '/commits/-/shown/latest?include_model=true'))
      .toMatchObject({ manifest: sequence(prompt) })
    await good('POST', '/repos/acme/shown/fork', { repo_handle: 'bare' }, stranger)
    expect(await good('GET', '/commits/-/bare/latest?include_model=true', undefined, stranger))
      .toMatchObject({ manifest: prompt })
    const open = lc('RunnableSequence', { first: prompt,
      last: lc('ChatOpenAI', { base_url: 'https://ann:pass@m.example' }) })
    expect(await send('POST', '/commits/-/shown', { manifest: open }))
      .toMatchObject({ status: 422, body: { detail: expect.stringMatching(/password/) as string } })
    await commit('shown', sequence(sequence(prompt)))
    expect((await send('GET', '/commits/acme/shown/latest?include_model=true', undefined, ''))
      .status).toBe(422)
    expect((await send('POST', '/repos/acme/shown/fork', { repo_handle: 'two' }, stranger)).status)
      .toBe(422)
    expect(await send('POST', '/repos', { repo_handle: 'p', is_public: true }, stranger))
      .toMatchObject({ status: 422, body: { detail: expect.stringContaining('handle') as string } })
  })

  it('have comments, with replies and likes, for whoever may read them', async () => {
    await made('talked', { is_public: true })
    await made('quiet')
    const say = (content: string, key?: string, of = '/comments/acme/talked') =>
      good<Said>('POST', of, { content }, key)
    const first = await say('First')
    expect(first).toMatchObject({ content: 'First', parent_id: null, num_likes: 0,
      num_sub_comments: 0, comment_by_name: expect.stringMatching(/^key /) as string })
    const other = await say('Of another tenant', stranger)
    const thread = `/comments/-/talked/${first.id}`
    const reply = await say('Reply', stranger, `/comments/acme/talked/${first.id}`)
    expect(reply).toMatchObject({ parent_id: first.id })
    await Promise.all(
      [owner, owner, stranger].map((key) =>
        good('POST', `/comments/acme/talked/${first.id}/like`, undefined, key)
      ),
    )
    const { comments, total } = await good<Talk>('GET', '/comments/-/talked', undefined, reader)
    expect(total).toBe(2)
    expect(new Set(comments.map(({ id }) => id))).toEqual(new Set([first.id, other.id]))
    expect(comments.find(({ id }) => id === first.id)).toMatchObject({ num_likes: 2,
      num_sub_comments: 1, liked_by_auth_user: false })
    expect(comments.find(({ id }) => id === other.id))
      .toMatchObject({ comment_by: null, comment_by_name: null })
    expect(await good('GET', '/comments/acme/talked?limit=1&offset=1', undefined, ''))
      .toMatchObject({ total: 2, comments: [{ id: comments[1]!.id, liked_by_auth_user: false }] })
    expect(await good('GET', thread)).toMatchObject({ total: 1, comments: [{ id: reply.id }] })
    expect(await good('DELETE', `${thread}/like`)).toEqual({ likes: 1 })
    for (const content of ['', 'x'.repeat(8_001), 7, undefined]) {
      expect((await send('POST', '/comments/-/talked', { content })).status).toBe(422)
    }
    const said = { content: 'x' }
    expect((await send('POST', '/comments/-/talked', said, reader)).status).toBe(403)
    expect((await send('POST', '/comments/acme/talked', said, '')).status).toBe(401)
    for (const path of ['/comments/acme/quiet', `/comments/acme/quiet/${first.id}`]) {
      expect((await send('GET', path, undefined, stranger)).status, path).toBe(404)
      expect((await send('POST', path, said, stranger)).status, path).toBe(404)
    }
    // A comment on one prompt is not there on another.
    expect((await send('GET', `/comments/-/quiet/${first.id}`)).status).toBe(404)
    expect((await send('POST', `/comments/-/quiet/${first.id}/like`)).status).toBe(404)
    await good('DELETE', '/repos/-/talked')
    expect((await send('GET', '/comments/-/talked')).status).toBe(404)
    await made('talked')
    expect(await good('GET', '/comments/-/talked')).toEqual({ comments: [], total: 0 })
  })

  it('are gone with their commits when they are deleted', async () => {
    await made('gone')
    const { commit_hash: hash } = await commit('gone', { v: 1 })
    await good('DELETE', '/repos/-/gone')
    for (const path of ['/repos/-/gone', '/commits/-/gone', `/commits/-/gone/${hash}`]) {
      expect((await send('GET', path)).status, path).toBe(404)
    }
    await made('gone')
    expect((await send('GET', `/commits/-/gone/${hash}`)).status).toBe(404)
  })
})

it('Directories keep the files of each commit', async () => {
  await made('agent', { repo_type: 'agent' })
  const push = (files: object, more: object = {}) =>
    good<CommitAnswer>('POST', '/platform/hub/repos/-/agent/directories/commits', { files,
      ...more })
  const file = (content: string) => ({ type: 'file', content })
  const first = await push({ 'a/b.md': file('one'), 'c.md': file('two') })
  await push({ 'c.md': null, 'd.md': file('three') }, {
    parent_commit: first.commit.commit_hash.slice(0, 12),
  })
  const path = '/platform/hub/repos/-/agent/directories?repo_type=agent'
  expect(await good('GET', path)).toMatchObject({
    files: { 'a/b.md': file('one'), 'd.md': file('three') },
  })
  expect(await good('GET', `${path}&commit=${first.commit.commit_hash}`))
    .toEqual({ commit_id: first.commit.id, commit_hash: first.commit.commit_hash,
      files: { 'a/b.md': file('one'), 'c.md': file('two') } })
  const refused = [{ '../x': file('') }, { '/x': file('') }, { x: { type: 'link' } }, {
    x: file('x'.repeat(1024 * 1024)),
  }]
  for (const files of refused) {
    const { status } = await send('POST', '/platform/hub/repos/-/agent/directories/commits', {
      files,
    })
    expect([413, 422]).toContain(status)
  }
  expect((await send('POST', '/commits/-/agent', { manifest: {} })).status).toBe(422)
  expect((await send('GET', path.replace('=agent', '=skill'))).status).toBe(404)
  await good('DELETE', '/platform/hub/repos/-/agent/directories')
  expect((await send('GET', path)).status).toBe(404)
})
