/** Which row of the limits a request falls under, however its path is written. */

import fastify from 'fastify'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'

import { rateLimits } from '../../../src/limits/limit-rows.ts'
import { rowMatcher } from '../../../src/limits/match.ts'
import { plainTarget, requestPath } from '../../../src/limits/request-path.ts'
import { expectAlways } from '../../support/expect-always.ts'
import { both, key, limitVectors, none, user, vectorId as id } from '../../support/limit-vectors.ts'
import type { Shown } from '../../support/limit-vectors.ts'

const rowOf = { us: rowMatcher(rateLimits('us')), eu: rowMatcher(rateLimits('eu')) }

/** Matches a path under the platform's base URL, even if this server has a route there. */
function platformRow(method: string, target: string, { key = false, user = false }: Shown,
  region: 'us' | 'eu' = 'us') {
  const path = requestPath(target)
  return rowOf[region]({ method, key, user,
    path: path.owner === 'deployment' ? { ...path, owner: 'platform' } : path })
}

function rowHere(method: string, target: string, { key = false, user = false }: Shown) {
  return rowOf.us({ method, path: requestPath(target), key, user }).name
}

describe('a request', () => {
  it.each(limitVectors)('%s %s with %o falls under %s',
    (method, target, shown, name, limit, identity) => {
      const rateLimit = platformRow(method, target, shown)
      expect([rateLimit.name, `${rateLimit.count}/${rateLimit.intervalMs / 1_000}`,
        rateLimit.identity])
        .toEqual([name, limit, identity])
    })

  it('has the limit of its region if that differs', () => {
    expect(platformRow('POST', '/runs/stats', key, 'eu').count).toBe(20)
    expect(platformRow('GET', '/commits/-/p/latest', key, 'eu').count).toBe(2_000)
  })

  it('to a deployment falls under OPTIONS and /info, a default or the catch-all', () => {
    const paths = [`/threads/${id}/runs`, '/runs', '/runs/batch', '/runs/wait', '/runs/search',
      `/runs/${id}/stream`, `/threads/${id}/runs/${id}/cancel`, '/assistants/search',
      '/store/items', '/runs/crons/x', '/frontdoor.v1.RunService/trigger', '/threads/generate',
      '/assistants/x/trigger']
    for (const path of paths) {
      for (const method of ['GET', 'POST', 'PATCH', 'DELETE']) {
        expect([path, rowHere(method, path, both)]).toEqual([path, 'default-key'])
        expect(rowHere(method, path, user)).toBe('default-user')
        expect(rowHere(method, path, none)).toBe('catch-all')
      }
      expect(rowHere('OPTIONS', path, both)).toBe('edge')
    }
    expect(rowHere('GET', '/info', both)).toBe('edge')
  })

  it.each([
    ['POST', '/runs/query', 'runs-query-key'],
    ['GET', `/runs/${id}`, 'run-lookup'],
    ['POST', '/api/v1/runs', 'runs-create'],
    ['POST', '/api/runs/batch', 'runs-batch'],
    ['PATCH', `/runs/${id}`, 'runs-update'],
    ['HEAD', `/runs/${id}`, 'run-lookup'],
    ['HEAD', '/examples/x', 'examples'],
    ['GET', '/runs/not-a-uuid', 'default-key'],
    ['POST', '/triggers', 'default-key'],
    ['POST', '/x/trigger-templates', 'default-key'],
    ['POST', '/runs/generate-query', 'generate-key'],
    ['POST', '/api/v1/runs/generate-query', 'generate-key'],
    ['POST', '/runs/generate-query/x', 'default-key'],
    ['POST', '/generate', 'generate-key'],
    ['GET', '/v1/beacon', 'beacon'],
    ['POST', '/org-charts', 'default-key'],
    ['POST', '/x/charts-more', 'charts-key'],
    ['GET', '/charts', 'default-key'],
    ['GET', '/oauth/provider', 'default-key'],
    ['GET', '/auth/public', 'auth-key'],
    ['POST', '/feedback/tokens', 'feedback'],
    ['PATCH', '/feedback/x', 'default-key'],
    ['POST', '/feedback-configs', 'default-key'],
    ['GET', '/public/x/examples', 'examples'],
    ['GET', '/v1/platform/hub/repos/o/r/directories/commits', 'default-key'],
    ['DELETE', '/sessions', 'deletion-key'],
    ['GET', '/info/health', 'edge'],
    ['PATCH', '/sessions/%2Fruns', 'default-key'],
    ['POST', '/x%2fcharts', 'default-key'],
    ['POST', '/v1/beacon/ingest-traces', 'beacon'],
    ['GET', `/threads/${id}/runs/${id}`, 'default-key'],
    ['POST', '/api/v1/metadata/submit', 'edge'],
    ['POST', '/api/v1/beacon/verify', 'beacon'],
    ['POST', '/api/metadata/submit', 'default-key'],
    ['POST', '/api/beacon', 'default-key'],
  ])('to a path like those of a row falls under the right one: %s %s', (method, path, name) => {
    expect(rowHere(method, path, key)).toBe(name)
  })
})

/** Routes of a platform, each with the row that it falls under. */
const routes = [
  ['GET', '/info', 'edge'],
  ['POST', '/v1/metadata/submit', 'edge'],
  ['GET', '/auth', 'auth-key'],
  ['GET', '/repos/:owner/:repo', 'repos-key'],
  ['POST', '/otel/v1/traces', 'otel-traces'],
  ['POST', '/charts/preview', 'charts-key'],
  ['POST', '/runs/multipart', 'runs-multipart'],
  ['POST', '/runs/query', 'runs-query-key'],
  ['POST', '/datasets/:id/generate', 'generate-key'],
  ['GET', '/commits/:owner/:repo/:commit', 'commits-key'],
  ['DELETE', '/sessions/:id', 'deletion-key'],
  ['DELETE', '/sessions/:id/views/:id', 'deletion-key'],
  ['POST', '/runs/rules/:id/trigger', 'deletion-key'],
  ['POST', '/feedback', 'feedback'],
  ['POST', '/api/v1/runs', 'runs-create'],
  ['GET', '/examples', 'examples'],
  ['GET', '/public/download', 'public-download'],
  ['GET', '/runs/stats', 'runs-stats'],
  ['GET', '/sessions/:id', 'default-key'],
  ['PATCH', '/sessions/:id', 'default-key'],
  ['POST', '/sessions/:id', 'default-key'],
  ['GET', '/datasets/:id/:version', 'default-key'],
  ['POST', '/threads', 'default-key'],
  ['GET', '/threads/:thread_id', 'default-key'],
  ['POST', '/threads/:thread_id/runs', 'default-key'],
  ['GET', '/assistants/:id/graph', 'default-key'],
  ['POST', '/runs', 'default-key'],
  ['POST', '/runs/wait', 'default-key'],
] as const

/** The route with its parameters, written plainly. */
function plainly(url: string, params: unknown): string {
  return url.replaceAll(/:(\w+)/g,
    (_, name: string) => encodeURIComponent((params as Record<string, string>)[name]!))
}

async function routerOf() {
  const app = fastify({ exposeHeadRoutes: false, routerOptions: { maxParamLength: 1_000 },
    rewriteUrl: ({ url = '/' }) => plainTarget(url) })
  for (const [method, url] of routes) {
    app.route({ method, url, handler: async ({ params }) => ({ plain: plainly(url, params) }) })
  }
  await app.ready()
  return app
}

const escaped = (text: string) =>
  [...text].map((letter) => `%${letter.charCodeAt(0).toString(16).padStart(2, '0')}`).join('')

/** A segment of a path, or something that an attacker puts in its place. */
const pieces = fc.constantFrom('info', 'auth', 'runs', 'query', 'stats', 'examples', 'generate',
  'sessions', 'api', 'v1', 'trigger', 'charts', 'public', 'download', 'threads', 'datasets',
  'rules', 'x', id, '', '.', '..', '%2e%2e', '%2E', '%2Finfo', 'x%2fgenerate', '..%2finfo',
  '%2Fruns', 'INFO', 'a;b', 'a%3Finfo', '%23', 'commits', 'p', 'multipart')
const disguised = fc.array(fc.tuple(pieces, fc.boolean()), { minLength: 1, maxLength: 6 })
  .map((parts) => parts.map(([part, hide]) => hide && !part.includes('%') ? escaped(part) : part))
  .map((parts) => `/${parts.join('/')}`)
const target = fc.tuple(disguised, fc.constantFrom('', '/', '?', '?a=/info', '#x', '//', '/?x'))
  .map((parts) => parts.join(''))
/** Known routes with escaped letters, doubled slashes and detours. */
const variants = fc.tuple(fc.constantFrom(...routes),
  fc.array(fc.constantFrom('/', '/./', '//', '/y/../', '/y/%2e%2e/'), { minLength: 8,
    maxLength: 8 }), fc.boolean(), fc.constantFrom('', '?x=1', '#info')).map((
    [[, url], gaps, hide, end],
  ) =>
    url.slice(1).split('/')
      .map((part) => part.startsWith(':') ? id : hide ? escaped(part) : part)
      .reduce((path, part, index) => `${path}${gaps[index % 8]}${part}`, '') + end
  )

describe('a path, however it is written', () => {
  it('falls under the same row as the plain path of the route that it leads to', async () => {
    for (const [method, url, row] of routes) {
      expect([url, rowHere(method, url.replaceAll(/:\w+/g, id), key)]).toEqual([url, row])
    }
    const app = await routerOf()
    let found = 0
    await expectAlways(
      fc.asyncProperty(fc.oneof(target, variants),
        fc.constantFrom('GET', 'POST', 'PATCH', 'DELETE'), async (url, method) => {
        // `inject` itself resolves paths in a way that real request lines do not go through.
        const answer = await app.inject({ method, url: plainTarget(url) })
        if (answer.statusCode !== 200) return
        found++
        const { plain } = answer.json<{ plain: string }>()
        expect([url, rowHere(method, url, key)]).toEqual([url, rowHere(method, plain, key)])
      }),
      { share: 40 },
    )
    expect(found).toBeGreaterThan(0)
    await app.close()
  })

  it('is made plain in one pass', () => {
    expectAlways(fc.property(target, (url) => {
      expect(plainTarget(plainTarget(url))).toBe(plainTarget(url))
    }))
  })

  it('may be an absolute URL, as for a proxy', () => {
    expect(requestPath('http://heddle.example:80/api/v1//runs/./query?x')).toEqual(
      { owner: 'platform', text: '/runs/query', versioned: '/v1/runs/query' },
    )
    const whole = 'http://heddle.example/threads?x=//'
    expect(plainTarget(whole)).toBe(whole)
  })
})
