/** Every way to write a route of the platform leads to one address. */

import { expect, it } from 'vitest'

import { platformTarget,
  routedTarget } from '../../../../src/frontdoor/platform-rest/platform-target.ts'

it.each([
  ['/api/v1/sessions?limit=1', '/api/v1/sessions?limit=1'],
  ['/api/sessions/', '/api/v1/sessions'],
  ['/sessions', '/api/v1/sessions'],
  ['/v2/runs/query', '/api/v2/runs/query'],
  ['/api/v1/otel', '/api/v1/otel/v1/traces'],
  ['/api/otel/', '/api/v1/otel/v1/traces'],
  ['/otel', '/api/v1/otel/v1/traces'],
  ['/otel/v1/traces', '/api/v1/otel/v1/traces'],
  ['/runs/wait', '/runs/wait'],
  ['/info', '/info'],
  ['/api-host/v2/deployments?name=a', '/control/hosted/v2/deployments?name=a'],
  ['/api-hosted', '/api/v1/api-hosted'],
])('%s is %s', (target, routed) => {
  expect(routedTarget(target)).toBe(routed)
})

it.each([
  ['/info', '/api/v1/info'],
  ['/otel', '/api/v1/otel/v1/traces'],
  ['/runs/batch?', '/api/v1/runs/batch?'],
  ['/api-host/v2/deployments', '/control/hosted/v2/deployments'],
])('%s is %s at the port of the platform', (target, routed) => {
  expect(platformTarget(target)).toBe(routed)
})
