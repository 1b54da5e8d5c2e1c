/** The requests that may be an app's: too many rather than too few. */

import { describe, expect, it } from 'vitest'

import { avoidedFinder, fitFinder } from '../../../../src/graph/app/app-patterns.ts'
import { headerJson, passedOn } from '../../../../src/graph/app/app-headers.ts'

const of = (method: string, path: string, isMiddleware = false) =>
  fitFinder([{ method, path, isMiddleware }])

describe('a pattern', () => {
  it.each([
    ['GET', '/hello', 'GET', '/hello'],
    ['GET', '/hello', 'HEAD', '/hello/'],
    ['ALL', '/a/*', 'PATCH', '/a'],
    ['ALL', '/a/*', 'PATCH', '/a/b/c'],
    ['GET', '/a/:id', 'GET', '/a/x%2Fy'],
    ['GET', '/a/:id?', 'GET', '/a'],
    ['GET', '/a/:id{[0-9]+}/b', 'GET', '/a/12/b'],
    ['GET', '/:path{.+\\.(js|a/b)}', 'GET', '/deep/er/file.js'],
    ['GET', '/wild/*/card', 'GET', '/wild/any/card'],
    ['GET', '/grüße', 'GET', '/gr%C3%BC%C3%9Fe'],
    ['ALL', '/threads/*', 'POST', '/%74hreads/search'],
    ['ALL', '/threads/*', 'GET', '/threads/a%0Ab'],
    ['GET', '/threads/:id', 'GET', '/threads/a%0Ab'],
    ['ALL', '/*', 'GET', '/'],
    ['ALL', '*', 'GET', '/any/where'],
    ['GET', '/', 'GET', '/'],
    ['GET', '/a.b', 'GET', '/a.b'],
  ])('%s %s fits %s %s', (method, pattern, asked, path) => {
    expect(of(method, pattern)(asked, path)).toBe('route')
    expect(of(method, pattern, true)(asked, path)).toBe('middleware')
  })

  it.each([
    ['GET', '/hello', 'POST', '/hello'],
    ['GET', '/hello', 'GET', '/hello/there'],
    ['GET', '/a.b', 'GET', '/aXb'],
    ['GET', '/a/:id', 'GET', '/a/b/c'],
    ['ALL', '/a/*', 'GET', '/ab'],
  ])('%s %s does not fit %s %s', (method, pattern, asked, path) => {
    expect(of(method, pattern)(asked, path)).toBeUndefined()
  })

  it('of a route counts before that of middleware, and without patterns all may be', () => {
    const find = fitFinder([{ method: 'ALL', path: '/*', isMiddleware: true }, { method: 'GET',
      path: '/x', isMiddleware: false }])
    expect([find('GET', '/x'), find('GET', '/y')]).toEqual(['route', 'middleware'])
    expect(fitFinder(null)('GET', '/x')).toBe('unknown')
  })
})

describe('a handler of all methods without a second parameter', () => {
  it('may be a route or middleware, and a route beside it counts as one', () => {
    const either = { method: 'ALL', path: '/a/*', isMiddleware: false, isAmbiguous: true }
    const route = { method: 'GET', path: '/a/b', isMiddleware: false }
    const find = fitFinder([either, route, { ...route, path: '/*', isMiddleware: true }])
    expect([find('GET', '/a/c'), find('GET', '/a/b'), find('GET', '/c')])
      .toEqual(['either', 'route', 'middleware'])
  })
})

describe('a call', () => {
  const call = { method: 'POST', path: '/v1.Service/GetThread' }
  const avoids = (method: string, path: string, operation = '/threads/:id/state') =>
    avoidedFinder([{ method: 'ALL', path: '*', isMiddleware: true }, { method, path,
      isMiddleware: true }])(call, [{ method: 'GET', path: operation }])

  it.each([
    ['ALL', '/threads/*'],
    ['ALL', '/threads/:any/state'],
    ['GET', '/threads/one/state'],
    ['GET', '/:a/:b/:c'],
    ['ALL', '/threads/:id{[0-9]+}/state'],
    ['ALL', '/*/one/state'],
  ])('avoids the handler %s %s, beside one that gets both', (method, path) => {
    expect(avoids(method, path)).toBe(true)
  })

  it.each([
    ['ALL', '*'],
    ['ALL', '/*'],
    ['POST', '/threads/*'],
    ['ALL', '/threads/:id/history'],
    ['ALL', '/threads/:id'],
    ['ALL', '/v1.Service/*'],
  ])('does not avoid the handler %s %s', (method, path) => {
    expect(avoids(method, path)).toBe(false)
  })

  it('does not avoid an app without patterns', () => {
    expect(avoidedFinder(null)(call, [{ method: 'GET', path: '/threads/:id' }])).toBe(false)
  })
})

describe('headers', () => {
  it('of a connection are not passed on, nor those that it names', () => {
    expect(
      passedOn([['Connection', 'close, X-Mine'], ['x-mine', '1'], ['TE', 'trailers'], [
        'Transfer-Encoding',
        'chunked',
      ], [':path', '/'], ['x-else', '2'], ['Upgrade', 'h2c']]),
    )
      .toEqual([['x-else', '2']])
  })

  it('take JSON in any language', () => {
    const text = headerJson({ name: 'Zoë ✓' })
    expect(text).toMatch(/^[\x20-\x7e]+$/)
    expect(JSON.parse(text)).toEqual({ name: 'Zoë ✓' })
  })
})
