/** How the target of a request line is divided into a deployment and a path. */

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'

import { platformTarget } from '../../../../src/frontdoor/platform-rest/platform-target.ts'
import { createsRun, isDataRoute } from '../../../../src/frontdoor/mount/data-routes.ts'
import { deploymentTarget } from '../../../../src/frontdoor/mount/target.ts'
import { expectAlways } from '../../../support/expect-always.ts'

describe('a target below a deployment', () => {
  it.each([
    ['/d/shop', 'shop', '/'],
    ['/d/shop/', 'shop', '/'],
    ['/d/shop?a=/d/b', 'shop', '/?a=/d/b'],
    ['/d/shop/threads/x?limit=1', 'shop', '/threads/x?limit=1'],
    ['//d//shop//threads', 'shop', '/threads'],
    ['/d/shop/../other/threads', 'other', '/threads'],
    ['/x/../d/shop/ok', 'shop', '/ok'],
    ['http://elsewhere.example/d/shop/ok', 'shop', '/ok'],
    ['/d/a/d/b/threads', 'a', '/d/b/threads'],
    ['/d/a/d/ab/threads', 'a', '/d/ab/threads'],
    ['/d/SHOP/ok', 'SHOP', '/ok'],
    ['/d/sh%6Fp/ok', 'sh%6Fp', '/ok'],
    ['/d/shop%2Fx/ok', 'shop%2Fx', '/ok'],
    ['/d/%zz/ok', '%25zz', '/ok'],
  ])('%s is of %s: %s', (target, name, rest) => {
    expect(deploymentTarget(target)).toMatchObject({ name, rest })
  })

  it.each(['/', '/d', '/d/', '/dd/shop', '/D/shop/ok', '/threads/d/x', '/api/d/shop/ok',
    '/d%2Fshop/ok', '/d/shop/../../keys', '/d/../threads'])('%s is none', (target) => {
      expect(deploymentTarget(target)).toBeUndefined()
    })

  it('may have its prefix twice: clients put a Location after their base URL', () => {
    expect(deploymentTarget('/d/shop/d/shop/runs/x/stream'))
      .toEqual({ name: 'shop', prefix: '/d/shop', rest: '/runs/x/stream' })
    expect(deploymentTarget('/d/shop/d/shop/d/shop/ok')).toMatchObject({ rest: '/d/shop/ok' })
  })

  it('has a rest that begins with a slash, whatever it is', () => {
    expectAlways(fc.property(fc.string(), (text) => {
      expect(deploymentTarget(`/d/shop/${text}`)?.rest ?? '/').toMatch(/^\//)
    }))
  })

  it("is the platform's at its own port", () => {
    expect(platformTarget('/d/shop/runs/batch')).toBe('/d/shop/api/v1/runs/batch')
    expect(platformTarget('/d/shop/api/v2/runs/query?a=1')).toBe('/d/shop/api/v2/runs/query?a=1')
    expect(platformTarget('/d/shop')).toBe('/d/shop/api/v1')
  })
})

describe('the routes of a deployment', () => {
  it.each(['/', '/ok', '/info', '/docs', '/docs/*', '/openapi.json', '/threads', '/runs/wait',
    '/store/items', '/assistants/:assistant_id', '/api/v1/sessions', '/api/v1/auth',
    '/frontdoor.v1.RunService/CreateRun', '/threads/:thread_id/stream/events'])('have %s',
      (one) => {
        expect(isDataRoute(one)).toBe(true)
      })

  it.each(['/keys', '/keys/:key_id', '/limits', '/limits/refused', '/cluster', '/studio/*',
    '/metrics', '/internal/cluster', '/control/v1/deployments', '/threads/:thread_id/place',
    undefined])('do not have %s', (one) => {
      expect(isDataRoute(one)).toBe(false)
    })

  it('that make runs are known', () => {
    expect(createsRun('POST', '/threads/:thread_id/runs/stream')).toBe(true)
    expect(createsRun('POST', '/frontdoor.v1.RunService/WaitRun')).toBe(true)
    expect(createsRun('GET', '/threads/:thread_id/runs')).toBe(false)
    expect(createsRun('POST', '/runs/search')).toBe(false)
  })
})
