/** A restricted egress: which URLs may be called, and which headers are added. */

import { describe, expect, it } from 'vitest'

import { withPolicy } from '../../../src/egress/index.ts'
import type { Call, WebhookPolicy } from '../../../src/egress/index.ts'
import { received } from '../../support/scripted-egress.ts'

const open: WebhookPolicy = { offered: true, headers: {}, httpsOnly: false, hosts: [], ports: [],
  longestUrl: 2_048, ownRoutes: true }

const ended = (rules: Partial<WebhookPolicy>, sent: Call[] = []) =>
  withPolicy({
    check: () => {},
    send: async (call) => {
      sent.push(call)
      return received
    },
  }, () => ({ ...open, ...rules }))

describe('a restricted egress', () => {
  it.each([
    [{ offered: false }, 'https://example.org/', /disable_webhooks/],
    [{ httpsOnly: true }, 'http://example.org/', /https/],
    [{ hosts: ['hooks.example.org'] }, 'https://example.org/', /host/],
    [{ hosts: ['*.example.org'] }, 'https://example.org/', /host/],
    [{ hosts: ['*.example.org'] }, 'https://badexample.org/', /host/],
    [{ hosts: ['example.org'] }, 'https://a.example.org/', /host/],
    [{ ports: [443] }, 'http://example.org/', /port/],
    [{ ports: [443] }, 'https://example.org:8443/', /port/],
    [{ longestUrl: 20 }, 'https://example.org/long', /20 characters/],
  ] as const)('with %j refuses %s',
    (rules, url, message) => expect(() => ended(rules).check(url)).toThrow(message))

  it.each([
    [{}, 'http://example.org:8080/'],
    [{ httpsOnly: true, ports: [443] }, 'https://example.org/'],
    [{ hosts: ['*.Example.org'] }, 'https://a.b.EXAMPLE.org./'],
    [{ hosts: ['x.org', 'example.org'] }, 'https://example.org/'],
    [{ ports: [80, 8443] }, 'http://example.org/'],
  ] as const)('with %j accepts %s',
    (rules, url) => expect(() => ended(rules).check(url)).not.toThrow())

  it.each(['/', '/run-ended', '/hooks/run?kind=ended&at=%20', '/a//b'])(
    'accepts a route of the project whatever hosts and ports it names: %s',
    (path) => {
      const rules = { httpsOnly: true, hosts: ['example.org'], ports: [443] }
      expect(() => ended(rules).checkRoute(path)).not.toThrow()
    },
  )

  it.each(['//example.org/hook', '/\\example.org', '/a b', '/\t/example.org', '/a#b', '/\u0000'])(
    'rejects a path that is no plain route: %j',
    (path) => expect(() => ended({}).checkRoute(path)).toThrow(/path of a route/),
  )

  it.each([
    [{ offered: false }, '/hook', /disable_webhooks/],
    [{ ownRoutes: false }, '/hook', /disable_loopback/],
    [{ longestUrl: 8 }, '/too-long', /8 characters/],
  ] as const)('with %j refuses the route %s',
    (rules, path, message) => expect(() => ended(rules).checkRoute(path)).toThrow(message))

  it.each([
    [{ offered: false }, 'https://example.org/'],
    [{ offered: false }, '/hook'],
    [{ ownRoutes: false }, '/hook'],
  ] as const)('with %j sends nothing to %s, which it accepted with other rules',
    async (rules, url) => {
      const sent: Call[] = []
      const call = { tenant: 'acme', method: 'POST', url } as const
      const outcome = await ended(rules, sent).send(call, new AbortController().signal)
      expect(outcome).toMatchObject({ kind: 'refused' })
      expect(sent).toEqual([])
    })

  it('applies its rules to redirects, and replaces no header of the call', async () => {
    const sent: Call[] = []
    const way = ended({ hosts: ['a.org'], headers: { 'x-token': 't', 'content-type': 'x' } }, sent)
    await way.send({ tenant: 'acme', method: 'POST', url: 'https://a.org/',
      headers: { 'content-type': 'application/json' } }, new AbortController().signal)
    expect(sent[0]!.headers).toEqual({ 'x-token': 't', 'content-type': 'application/json' })
    expect(() => sent[0]!.mayCall!(new URL('https://b.org/'))).toThrow(/host/)
  })
})
