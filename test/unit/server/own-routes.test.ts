/** Calls to routes of the own deployment: which address, with which key, and for how long. */

import { expect, it, onTestFinished } from 'vitest'

import { systemEnv } from '../../../cluster/index.ts'
import { RunKeys } from '../../../src/access/index.ts'
import { ownRouteHeader } from '../../../src/frontdoor/index.ts'
import type { AppUser } from '../../../src/graph/index.ts'
import { OwnRoutes } from '../../../src/server/own-routes.ts'
import { openReceiver } from '../../support/receiver.ts'
import type { Answer } from '../../support/receiver.ts'

const ann: AppUser = { identity: 'ann', permissions: [], is_authenticated: true,
  display_name: 'ann' }

/** Routes of a server at a receiver; `seen` has what its key opened while it was called. */
async function opened(
  { needsKeys = false, answer }: { readonly needsKeys?: boolean; readonly answer?: Answer } = {},
) {
  const env = systemEnv({ level: 'silent' })
  const runKeys = new RunKeys<AppUser>(env)
  const routes = new OwnRoutes({ env, runKeys, needsKeys })
  const seen: object[] = []
  const receiver = await openReceiver((received, response) => {
    const key = String(received.headers['x-api-key'] ?? '')
    seen.push({ path: received.path, namespace: runKeys.find(key), user: runKeys.userOf(key) })
    if (answer === undefined) response.end()
    else answer(received, response)
  })
  onTestFinished(async () => {
    await routes.close()
    await receiver.close()
  })
  const url = `http://127.0.0.1:${receiver.port}`
  const send = (url: string,
    { user, tenant = 'acme', tries }: { readonly user?: AppUser; readonly tenant?: string;
      readonly tries?: number } = {}) =>
    routes.send({ tenant, user, method: 'POST', url, tries, body: async () => '{}' },
      AbortSignal.timeout(20_000))
  return { routes, runKeys, receiver, seen, send, url }
}

const unexpected = () => Promise.reject(new Error('there is no such deployment'))

it('calls as the user of the run, with a key that ends with the call', async () => {
  const { routes, runKeys, receiver, seen, send, url } = await opened()
  routes.servedAt({ url, urlOfDeployment: unexpected })
  expect(await send('/hook?a=1', { user: ann })).toMatchObject({ kind: 'answered', status: 200 })
  expect(seen).toEqual([{ path: '/hook?a=1', namespace: 'acme', user: ann }])
  expect(runKeys.find(String(receiver.received[0]!.headers['x-api-key']))).toBeUndefined()
})

it('sends a key without a user only where the server requires keys', async () => {
  for (const needsKeys of [false, true]) {
    const { routes, seen, send, url } = await opened({ needsKeys })
    routes.servedAt({ url, urlOfDeployment: unexpected })
    await send('/hook')
    expect(seen).toMatchObject([{ namespace: needsKeys ? 'acme' : undefined, user: undefined }])
  }
})

it('calls a deployment at its own address, and waits until the server has one', async () => {
  const { routes, seen, send, url } = await opened({ needsKeys: true })
  const sending = send('/hook', { tenant: 'acme@shop' })
  routes.servedAt({ url: 'http://127.0.0.1:9', urlOfDeployment: async (name) => {
    expect(name).toBe('shop')
    return url
  } })
  expect(await sending).toMatchObject({ status: 200 })
  expect(seen).toMatchObject([{ namespace: 'acme@shop' }])
})

it.each(['/d/shop/hook', '/a/../d/shop/hook', '/./d', '/%2e/d/shop', '/a/\\..\\..\\d/shop'])(
  'does not call %s, which could be a path of another deployment',
  async (path) => {
    const { routes, seen, send, url } = await opened()
    routes.servedAt({ url, urlOfDeployment: unexpected })
    expect(await send(path, { user: ann })).toMatchObject({ kind: 'refused' })
    expect(await send('/dd')).toMatchObject({ status: 200 })
    expect(seen).toHaveLength(1)
  },
)

it('does not follow a redirect to another deployment', async () => {
  const { routes, seen, send, url } = await opened({
    answer: (_, response) => response.writeHead(307, { location: '/d/shop/hook' }).end(),
  })
  routes.servedAt({ url, urlOfDeployment: unexpected })
  expect(await send('/hook')).toMatchObject({ kind: 'refused' })
  expect(seen).toHaveLength(1)
})

it('sends a header that limits the call to the powers of the key of a run', async () => {
  const { routes, receiver, send, url } = await opened()
  routes.servedAt({ url, urlOfDeployment: unexpected })
  await send('/hook')
  expect(receiver.received[0]!.headers).toHaveProperty(ownRouteHeader)
})

it('does not follow a redirect to another server of this machine', async () => {
  const { routes, seen, send, url } = await opened({ needsKeys: true,
    answer: (_, response) => response.writeHead(307, { location: 'http://127.0.0.1:2/' }).end() })
  routes.servedAt({ url, urlOfDeployment: unexpected })
  expect(await send('/hook')).toMatchObject({ kind: 'refused' })
  expect(seen).toHaveLength(1)
})

it('fails as unavailable if the server stops before it has an address', async () => {
  const { routes, send } = await opened()
  const sending = send('/hook')
  await routes.close()
  await expect(sending).rejects.toMatchObject({ code: 'unavailable' })
})

it('waits for an address again if its last try meets a front door that closes', async () => {
  let isOpen = false
  const { routes, receiver, send, url } = await opened({
    answer: (_, response) => {
      if (!isOpen) routes.notServed()
      response.writeHead(isOpen ? 200 : 503).end()
    },
  })
  routes.servedAt({ url, urlOfDeployment: unexpected })
  const sending = send('/hook', { tries: 1 })
  await receiver.arrived(1)
  isOpen = true
  routes.servedAt({ url, urlOfDeployment: unexpected })
  expect(await sending).toMatchObject({ kind: 'answered', status: 200 })
})

it('is tried again later if the deployment has no address, and fails without a front door',
  async () => {
    const { routes, send, url } = await opened()
    routes.servedAt({ url, urlOfDeployment: unexpected })
    await expect(send('/hook', { tenant: 'acme@gone' })).rejects.toMatchObject(
      { code: 'unavailable' },
    )
    const { routes: others, send: sendThere } = await opened()
    others.servedAt(undefined)
    expect(await sendThere('/hook')).toMatchObject({ kind: 'failed' })
  })
