/** Which settings hold for a namespace: the server's own, or those of a deployment's revision. */

import { expect, it } from 'vitest'

import { noView, usualSettings } from '../../../../src/graph/index.ts'
import type { DeploymentView, ProjectSettings } from '../../../../src/graph/index.ts'
import { deployedSettings } from '../../../../src/server/deployments/deployed-settings.ts'

const shop: ProjectSettings = {
  webhooks: { ...usualSettings.webhooks, headers: { 'x-token': '${{ env.LG_WEBHOOK_TOKEN }}' },
    url: { ...usualSettings.webhooks.url, require_https: true } },
  disable_webhooks: false,
  store: { ttl_ms: 5, refresh_on_read: false },
  time_to_live: { strategy: 'delete', minutes: 3 },
}

type Sent = Readonly<Record<string, string>>

/** The settings, with what was sent: by the own project, or by no policy at all. */
function opened(variables: Readonly<Record<string, string>>,
  views: Readonly<Record<string, DeploymentView | undefined>> = {}) {
  const sent: [by: 'own' | 'deployed', headers: Sent][] = []
  const egress = (by: 'own' | 'deployed') => ({
    check: () => {},
    checkRoute: () => {},
    send: async ({ headers }: { readonly headers?: Sent }) => {
      sent.push([by, headers ?? {}])
      return { kind: 'answered', status: 200, body: '', cut: false } as const
    },
  })
  const settings = deployedSettings({
    deployed: {
      view: (namespace) =>
        namespace in views
          ? views[namespace]
          : { ...noView, ...namespace === 'acme@shop' && { settings: shop } },
    },
    wayOut: egress('deployed'),
    own: { egress: egress('own'), hasApp: () => false,
      itemSettings: () => ({ ttlMs: 9, refreshOnRead: true, sweepMs: 8 }),
      timeToLive: () => ({ strategy: 'keep_latest', minutes: 7 }) },
    variablesOf: async () => variables,
  })
  const send = (tenant: string) =>
    settings.egress.send({ tenant, method: 'POST', url: 'https://a.example/',
      headers: { 'x-own': '1' }, body: async () => undefined }, AbortSignal.timeout(9e5))
  return { settings, sent, send }
}

it('The server has its own, a deployment those of its revision, or none.', () => {
  const { settings } = opened({})
  expect(settings.itemSettings('acme')).toMatchObject({ ttlMs: 9, sweepMs: 8 })
  expect(settings.itemSettings('acme@shop')).toEqual({ ttlMs: 5, refreshOnRead: false })
  expect(settings.itemSettings('acme@plain')).toEqual({ ttlMs: 0, refreshOnRead: true })
  expect(settings.timeToLive('acme')).toMatchObject({ minutes: 7 })
  expect(settings.timeToLive('acme@shop')).toMatchObject({ minutes: 3 })
  expect(settings.timeToLive('acme@plain')).toBeUndefined()
  const { check } = settings.egress
  expect(() => check('http://a.example/', 'acme@shop')).toThrow('must be an https URL')
  check('http://a.example/', 'acme@plain')
  check('http://a.example/', 'acme')
})

it('Accepts the path of a route only if the project brings an app, and allows paths.', () => {
  const { settings: { egress } } = opened({}, {
    'acme@app': { ...noView, settings: { ...shop, http: { app: './app.ts:app' } } },
    'acme@closed': { ...noView,
      settings: { ...shop, http: { app: './app.ts:app' },
        webhooks: { ...shop.webhooks, url: { ...shop.webhooks.url, disable_loopback: true } } } },
  })
  egress.checkRoute('/hook', 'acme@app')
  expect(() => egress.checkRoute('/hook', 'acme@closed')).toThrow('disable_loopback')
  for (const namespace of ['acme', 'acme@shop', 'acme@plain']) {
    expect(() => egress.checkRoute('/hook', namespace)).toThrow('names no `http.app`')
  }
})

it('Headers are made of the variables of the deployment, or the call is refused.', async () => {
  const { sent, send } = opened({ LG_WEBHOOK_TOKEN: 'of the shop' })
  await send('acme')
  await send('acme@plain')
  await send('acme@shop')
  expect(sent).toEqual([['own', { 'x-own': '1' }], ['deployed', { 'x-own': '1' }], ['deployed', {
    'x-own': '1',
    'x-token': 'of the shop',
  }]])
  const lacking = opened({})
  expect(await lacking.send('acme@shop')).toMatchObject({ kind: 'refused',
    reason: 'webhooks.headers.x-token uses LG_WEBHOOK_TOKEN, which is not set' })
  expect(lacking.sent).toEqual([])
})

const unknown: Readonly<Record<string, DeploymentView | undefined>> = {
  'acme@removed': undefined,
  'acme@torn': { ...noView, active: 'r2', lacksSettings: true },
}

it.each(Object.keys(unknown))('Rejects calls for %s, whose settings are not known',
  async (name) => {
    const { settings, send, sent } = opened({}, unknown)
    const unavailable = expect.objectContaining({ code: 'unavailable' }) as Error
    await expect(send(name)).rejects.toEqual(unavailable)
    expect(sent).toEqual([])
    expect(() => settings.egress.check('https://a.example/', name)).toThrow(unavailable)
    expect(() => settings.egress.offers(name)).toThrow(unavailable)
    expect(() => settings.itemSettings(name)).toThrow(unavailable)
    expect(() => settings.timeToLive(name)).toThrow(unavailable)
  })

it('A revision without settings has the usual ones.', () => {
  const view = { ...noView, active: 'r1', revisions: new Map([['r1', []]]) }
  const { settings } = opened({}, { 'acme@old': view })
  expect(settings.timeToLive('acme@old')).toBeUndefined()
  expect(settings.egress.offers('acme@old')).toBe(true)
})

it('Settings are not combined with variables of another revision.', async () => {
  const views: Record<string, DeploymentView | undefined> = {
    'acme@shop': { ...noView, settings: shop },
  }
  const { send, sent } = opened({ LG_WEBHOOK_TOKEN: 'of r1' }, views)
  const sending = send('acme@shop')
  views['acme@shop'] = undefined
  await expect(sending).rejects.toMatchObject({ code: 'unavailable' })
  expect(sent).toEqual([])
})
