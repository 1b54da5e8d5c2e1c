/** The thread of a login and an app: its answers, and what becomes of code that misbehaves. */

import { once } from 'node:events'

import { describe, expect, it } from 'vitest'

import { SupervisedApp } from '../../../../src/graph/app-thread/supervised-app.ts'
import { systemEnv } from '../../../../cluster/index.ts'
import { appProject, open, startApp } from './app-project.ts'

const app = `
import { threadId } from 'node:worker_threads'
import threads from 'node:worker_threads'
import { setImmediate } from 'node:timers/promises'

const endless = () => new ReadableStream({
  async pull(sink) { await setImmediate(); sink.enqueue(new Uint8Array(65536)) },
  cancel() { console.log('stream over') },
})
const ways = {
  '/hello': async (request) => Response.json({ method: request.method, url: request.url,
    body: await request.text(), user: request.headers.get('x-heddle-user'),
    token: request.headers.get('x-heddle-app-token'), data: threads.workerData },
    { headers: [['set-cookie', 'a=1'], ['set-cookie', 'b=2']] }),
  '/thread': () => new Response(String(threadId)),
  '/throws': () => { throw new Error('secret words') },
  '/nonsense': () => 5,
  '/hangs': () => new Promise(() => {}),
  '/endless': () => new Response(endless()),
  '/cut': () => new Response(new ReadableStream({ pull() { throw new Error('half way') } })),
  '/exit': () => process.exit(3),
  '/reject': () => { Promise.reject(new Error('nobody looks')); return new Response('fine') },
}
export const app = { fetch: (request) => ways[new URL(request.url).pathname](request) }
`
const login = `
import { Auth, HTTPException } from '@langchain/langgraph-sdk/auth'
export const auth = new Auth()
  .authenticate((request) => {
    const name = request.headers.get('authorization')
    if (name === 'hang') return new Promise(() => {})
    if (name === 'exit') process.exit(1)
    if (name === null) throw new HTTPException(401, { message: 'Who?' })
    return { identity: name, permissions: ['all'] }
  })
  .on('threads', ({ user, value }) => { value.seen = true; return { owner: user.identity } })
`
const asked = (name?: string) => ({ method: 'GET', url: 'http://x/threads',
  headers: name === undefined ? [] : [['authorization', name] as const] })

describe('an app thread', () => {
  it('answers requests and questions, and survives what throws', async () => {
    const { link, ask } = await startApp({ app, login })
    const hello = await ask('/hello?a=b', { method: 'POST', body: 'text',
      headers: { host: 'shop.example', 'x-heddle-user': '{"identity":"ann"}' } })
    expect(hello.headers['set-cookie']).toEqual(['a=1', 'b=2'])
    expect(JSON.parse(hello.text)).toEqual({ method: 'POST', url: 'http://shop.example/hello?a=b',
      body: 'text', user: '{"identity":"ann"}', token: null, data: null })

    expect(await ask('/throws')).toMatchObject({ status: 500, text: 'Internal Server Error' })
    expect(await ask('/nonsense')).toMatchObject({ status: 500 })
    expect(await ask('/reject')).toMatchObject({ status: 200, text: 'fine' })
    await expect(ask('/cut')).rejects.toThrow()

    const { login: handlers } = link.app!
    expect(handlers!.events).toEqual(['threads'])
    expect(await handlers!.authenticate(asked('ann'))).toMatchObject({ kind: 'user',
      user: { identity: 'ann', permissions: ['all'] } })
    expect(await handlers!.authenticate(asked())).toEqual({ kind: 'refused', status: 401,
      message: 'Who?', headers: [] })
    const user = { identity: 'ann', permissions: [], is_authenticated: true, display_name: 'ann' }
    expect(await handlers!.on({ resource: 'threads', action: 'read', value: {}, user }))
      .toEqual({ kind: 'allowed', value: { seen: true }, filter: { owner: 'ann' } })
  })

  it('logs what it prints without the secrets of its environment', async () => {
    const logged: string[] = []
    const quiet = systemEnv({ level: 'silent' })
    const keep = (message: string) => void logged.push(message)
    const { ask } = await startApp({ app: `
      export const app = { fetch: () => {
        console.log('out', process.env.SHOP_SECRET)
        console.error(new Error('err ' + process.env.SHOP_SECRET))
        return new Response('fine')
      } }` }, {
      printed: undefined,
      env: { ...quiet, log: { ...quiet.log, info: keep, warn: keep } },
      variables: { ...process.env, SHOP_SECRET: 'open sesame' },
    })
    await ask('/any')
    await expect.poll(() => logged.some((line) => line.includes('err'))).toBe(true)
    await expect.poll(() => logged).toContain('out [secret]')
    expect(logged.join()).not.toContain('sesame')
  })

  it('refuses whoever does not know its token', async () => {
    const { link, ask } = await startApp({ app })
    const headers = { 'x-heddle-app-token': 'wrong' }
    expect(await ask('/hello', { headers })).toMatchObject({ status: 403, text: '' })
    expect(link.app!.login).toBeUndefined()
  })

  it('sends no faster than its reader reads, and learns that it has left', async () => {
    const { link, lines } = await startApp({ app })
    const response = await open(link, '/endless')
    await once(response, 'readable')
    response.destroy()
    await expect.poll(() => lines).toContain('stream over')
  })

  it('is replaced when it ends, and questions wait for the next one', async () => {
    const { link, ask } = await startApp({ app, login })
    const first = (await ask('/thread')).text
    await expect(ask('/exit')).rejects.toThrow()
    await expect.poll(async () => (await ask('/thread')).text).not.toBe(first)
    await expect(link.app!.login!.authenticate(asked('exit'))).rejects
      .toMatchObject({ code: 'unavailable' })
    expect(await link.app!.login!.authenticate(asked('ann'))).toMatchObject({ kind: 'user' })
  })

  it('gives up a handler that hangs alone', async () => {
    const { link } = await startApp({ login }, { limitMs: 200 })
    const { login: handlers } = link.app!
    await expect(handlers!.authenticate(asked('hang'))).rejects
      .toMatchObject({ code: 'unavailable', httpStatus: 503 })
    await expect.poll(() => handlers!.authenticate(asked('ann')).catch(() => undefined))
      .toMatchObject({ kind: 'user' })
  })
})

it.each([
  ['a login that throws at its import', { login: 'throw new Error("no database")' },
    /auth\.path could not be loaded \(auth\.ts:1:7\): no database/],
  ['a login that is none', { login: 'export const auth = {}' },
    /auth\.path could not be loaded \(auth\.ts\): it is no Auth/],
  ['an app that is not exported', { app: 'export const other = 1' },
    /http\.app could not be loaded \(app\.ts\): its file does not export "app"; it exports other/],
  ['an app without fetch', { app: 'export const app = 5' }, /it is no Hono app/],
  ['an app that cannot be compiled', { app: 'export const = ' }, /http\.app could not be loaded/],
  ['an app that ends its thread', { app: 'process.exit(0); export const app = 1' },
    /cannot be loaded: it ended by itself/],
])('The start fails for %s, with the reason.', async (_, sources, reason) => {
  const thread = new SupervisedApp(systemEnv({ level: 'silent' }), {
    project: await appProject(sources),
    heapMb: 128,
    variables: { ...process.env },
    hangMs: 10_000,
    printed: () => {},
    moved: () => {},
  })
  await expect(thread.opened).rejects.toMatchObject({ code: 'graph_failed',
    message: expect.stringMatching(reason) as string })
  await thread.close()
})
