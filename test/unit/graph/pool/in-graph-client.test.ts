/** What code in a graph knows about its own server. */

import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

import { expect, it, onTestFinished, vi } from 'vitest'

import { serverIsAt } from '../../../../src/graph/pool/in-graph-client.ts'

it('A graph knows the port of its server even if it is the default port of the URL.', () => {
  vi.stubEnv('PORT', undefined)
  vi.stubEnv('LANGGRAPH_API_URL', undefined)
  onTestFinished(() => void vi.unstubAllEnvs())
  serverIsAt('http://127.0.0.1:8123')
  expect(process.env.PORT).toBe('8123')
  serverIsAt('http://127.0.0.1:80')
  expect(process.env.PORT).toBe('80')
})

/** A server that answers with the target and the key of each request. */
async function echo(): Promise<string> {
  const server = createServer(({ url, headers }, response) =>
    void response.end(`${url} ${headers['x-api-key'] ?? headers.authorization}`)
  )
  await new Promise<void>((listening) => {
    server.listen(0, '127.0.0.1', listening)
  })
  onTestFinished(() => void server.close())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

it('Requests of a run to its own server have its key, unless they bring one of it.', async () => {
  const globals = globalThis as unknown as Record<symbol, typeof fetch>
  const plain = globalThis.fetch
  onTestFinished(() => void (globalThis.fetch = plain))
  vi.stubEnv('PORT', undefined)
  vi.stubEnv('LANGGRAPH_API_URL', undefined)
  onTestFinished(() => void vi.unstubAllEnvs())
  vi.resetModules()
  const client = await import('../../../../src/graph/pool/in-graph-client.ts')
  const [own, foreign] = [await echo(), await echo()]
  client.offerClient({ error() {}, info() {}, debug() {} } as never)
  client.clientMayAsk()
  client.serverIsAt(own)
  const asked = (url: string, headers: Record<string, string> = {}) =>
    fetch(url, { headers }).then((answer) => answer.text())
  const said = await client.callingWith('hdl_run_1', async () => [
    await globals[Symbol.for('langgraph_api:fetch')]!('http://localhost:8123/a?b')
      .then((answer) => answer.text()),
    await asked(`http://localhost:${process.env.PORT}/x`),
    await asked(`${own}/x`, { 'x-api-key': 'lsv2_of_another_service' }),
    await asked(`${own}/x`, { 'x-api-key': 'hdl_us_2' }),
    await asked(`${own}/x`, { authorization: 'Bearer token' }),
    await fetch(new Request(`${own}/x`, { headers: { a: 'b' } })).then((answer) => answer.text()),
    await asked(`${foreign}/x`),
  ])
  expect(said).toEqual(['/a?b hdl_run_1', '/x hdl_run_1', '/x hdl_run_1', '/x hdl_us_2',
    '/x Bearer token', '/x hdl_run_1', '/x undefined'])
  expect(await client.callingWith(undefined, () => asked(`${own}/x`))).toBe('/x undefined')
})

it('A client asks below the path at which its server answers.', async () => {
  vi.stubEnv('LANGGRAPH_API_URL', undefined)
  onTestFinished(() => void vi.unstubAllEnvs())
  vi.resetModules()
  const client = await import('../../../../src/graph/pool/in-graph-client.ts')
  const plain = globalThis.fetch
  onTestFinished(() => void (globalThis.fetch = plain))
  client.offerClient({ error() {}, info() {}, debug() {} } as never)
  client.clientMayAsk()
  client.serverIsAt(`${await echo()}/d/shop`)
  const ask = (globalThis as unknown as Record<symbol, typeof fetch>)[
    Symbol.for('langgraph_api:fetch')
  ]!
  expect(await (await ask('http://localhost:8123/threads?a=b')).text())
    .toBe('/d/shop/threads?a=b undefined')
})
