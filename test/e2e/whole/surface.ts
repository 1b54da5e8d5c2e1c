/** The routes, the middleware, the WebSocket and the components that the project brings. */

import { createHash, createHmac } from 'node:crypto'
import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'

import { expect } from 'vitest'
import { WebSocket } from 'ws'

import type { Bakery } from './bakery.ts'
import { threadOf } from './rights.ts'

const page = 'https://page.example'

/** The routes of the app know who calls, and where they are. */
export async function hasRoutes(bakery: Bakery): Promise<void> {
  expect(await bakery.everywhere('alice', { method: 'GET', path: '/bakery/user' })).toMatchObject({
    status: 200,
    json: { path: '/bakery/user', user: { identity: 'alice', team: 'team of alice' } },
  })
  const id = await threadOf(bakery, 0, 'carol')
  const seen = await bakery.everywhere('carol', { method: 'GET', path: '/bakery/threads' })
  expect(seen.json).toContain(id)
  expect((await bakery.everywhere('bob', { method: 'GET', path: '/bakery/threads' })).json)
    .not.toContain(id)
  const fault = await bakery.everywhere('alice', { method: 'GET', path: '/bakery/fault' })
  expect(fault).toMatchObject({ status: 500, text: 'Internal Server Error' })
}

/** Bodies go through both ways, and are signed with the secret of the project. */
export async function passesBodies(bakery: Bakery): Promise<void> {
  const body = 'order '.repeat(50_000)
  const headers = { 'content-type': 'text/plain' }
  const digest = createHash('sha256').update(body).digest()
  expect(await bakery.everywhere('alice', { method: 'POST', path: '/bakery/sign', body, headers }))
    .toMatchObject({ status: 200,
      json: { bytes: body.length,
        signature: createHmac('sha256', bakery.secret).update(digest).digest('hex') } })
  const echo = await bakery.everywhere('alice', { method: 'POST', path: '/bakery/echo', body,
    headers })
  expect([echo.status, echo.text === body]).toEqual([200, true])
  const lines = await bakery.everywhere('alice', { method: 'GET', path: '/bakery/lines' })
  expect(lines.headers['content-type']).toContain('text/event-stream')
  expect(lines.text.match(/(?<=data: )\w+/g)).toEqual(['first', 'second', 'third'])
}

/** The WebSocket of the app answers at each door, after the login. */
export async function takesSockets(bakery: Bakery): Promise<void> {
  for (const { url, host } of bakery.doors) {
    const address = `${url.replace('http', 'ws')}/bakery/socket`
    const name = host === undefined ? {} : { host }
    const socket = new WebSocket(address, { headers: { ...name, ...bakery.headersOf('alice') } })
    await once(socket, 'open')
    socket.send('orders')
    expect(String((await once(socket, 'message') as [Buffer])[0])).toBe('heard orders')
    socket.close()
    await once(socket, 'close')
    const refused = new WebSocket(address, { headers: name })
    const [, answer] = await once(refused, 'unexpected-response') as [unknown, IncomingMessage]
    expect(answer.statusCode).toBe(401)
    refused.on('error', () => undefined).terminate()
  }
}

/** Pages of the origin that the project names may call, and no others. */
export async function answersPages(bakery: Bakery): Promise<void> {
  const asked = (origin: string) => ({ method: 'OPTIONS', path: '/threads',
    headers: { origin, 'access-control-request-method': 'POST' } })
  expect(await bakery.everywhere(undefined, asked(page)))
    .toMatchObject({ headers: { 'access-control-allow-origin': page } })
  expect((await bakery.everywhere(undefined, asked('https://other.example')))
    .headers['access-control-allow-origin']).toBeUndefined()
}

/** Names of the files of the component, and what is in them. */
export async function componentFiles(bakery: Bakery): Promise<Readonly<Record<string, string>>> {
  const asked = { method: 'POST', path: '/ui/bakery', body: { name: 'card' } }
  const found = await bakery.everywhere('alice', asked)
  expect(found).toMatchObject({ status: 200,
    headers: { 'content-type': 'text/html; charset=utf-8' } })
  const names = found.text.match(/(?<=\/ui\/bakery\/)[^"]+/g) ?? []
  const files = await Promise.all(names.map(async (name) => {
    const file = await bakery.everywhere(undefined, { method: 'GET', path: `/ui/bakery/${name}` })
    expect([name, file.status]).toEqual([name, 200])
    return [name, file.text] as const
  }))
  return Object.fromEntries(files)
}

/** The component has the same files of the same bytes, named by their hashes, at each door. */
export async function showsComponents(bakery: Bakery): Promise<void> {
  const files = Object.entries(await componentFiles(bakery))
  expect(files.map(([name]) => name.split('.').at(-1))).toEqual(['css', 'js'])
  for (const [name, content] of files) {
    const hash = createHash('sha256').update(content).digest('hex')
    expect([name, name.includes(hash.slice(0, 32))]).toEqual([name, true])
  }
  const [[, sheet], [, script]] = files as [[string, string], [string, string]]
  expect(sheet).toContain('.bakery-card')
  expect(script).toContain('Orders for')
  expect(
    await bakery.everywhere('alice', { method: 'POST', path: '/ui/other', body: { name: 'card' } }),
  ).toMatchObject({ status: 404 })
  expect(
    await bakery.everywhere(undefined, { method: 'POST', path: '/ui/bakery',
      body: { name: 'card' } }),
  ).toMatchObject({ status: 401 })
}
