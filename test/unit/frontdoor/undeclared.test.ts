/** Members that no schema declares: of every route, hidden ones as well, none reaches its code. */

import type { FastifyInstance, RouteOptions } from 'fastify'
import { describe, expect, it } from 'vitest'

import { allRoutes } from './all-routes.ts'

type Part = 'params' | 'querystring' | 'body'

interface Shape {
  readonly type?: string
  readonly const?: unknown
  readonly enum?: readonly unknown[]
  readonly format?: string
  readonly pattern?: string
  readonly minimum?: number
  readonly exclusiveMinimum?: number
  readonly minItems?: number
  readonly maxItems?: number
  readonly properties?: Readonly<Record<string, Shape>>
  readonly patternProperties?: object
  readonly additionalProperties?: unknown
  readonly items?: Shape
  readonly anyOf?: readonly Shape[]
}

const stray = 'zz_undeclared'

/**
 * Routes whose bodies no schema checks, by who reads them. A new one belongs here only if its code
 * takes member by member what it knows.
 */
const readElsewhere = {
  none: ['POST /api/v1/beacon', 'POST /api/v1/beacon/*', 'POST /api/v1/beacon/ingest-traces',
    'POST /api/v1/beacon/verify', 'POST /api/v1/auth', 'POST /api/v1/generate',
    'POST /api/v1/metadata/submit', 'PUT /api/v1/datasets/:id/share',
    'POST /api/v1/otel/v1/metrics', 'POST /api/v1/otel/v1/logs',
    'POST /api/v1/comments/:owner/:name/:comment/like',
    'POST /control/hosted/v2/deployments/:id/push-token',
    'POST /control/hosted/v2/deployments/:id/upload-url',
    'POST /control/v1/deployments/:deployment/replays/:replay/cancel',
    'POST /control/v1/deployments/:deployment/revisions/:revision/check',
    'POST /threads/:thread_id/runs/:run_id/cancel', 'POST /runs/crons/:cron_id/trigger',
    'POST /a2a/:assistant_id', 'POST /mcp'],
  bytes: ['PUT /control/hosted/uploads/:address',
    'PUT /control/v1/deployments/:deployment/revisions/:revision/chunks/:sha256',
    'PUT /control/v1/deployments/:deployment/revisions/:revision/source/:sha256'],
  traces: ['POST /api/v1/runs', 'PATCH /api/v1/runs/:id', 'POST /api/v1/runs/batch',
    'POST /api/v1/runs/multipart', 'POST /api/v1/otel/v1/traces'],
  feedback: ['POST /api/v1/feedback', 'POST /api/v1/feedback/eager',
    'POST /api/v1/feedback/tokens'],
  examples: ['POST /api/v1/examples', 'PATCH /api/v1/examples/:id', 'POST /api/v1/examples/bulk',
    'PATCH /api/v1/examples/bulk', 'POST /api/v1/examples/validate',
    'POST /api/v1/examples/validate/bulk', 'POST /api/v1/datasets/upload',
    'POST /api/v1/datasets/upload-experiment', 'POST /api/v1/platform/datasets/:id/examples',
    'PATCH /api/v1/platform/datasets/:id/examples',
    'PATCH /api/v1/platform/datasets/:id/examples/metadata',
    'POST /api/v1/platform/datasets/examples/delete'],
  prompts: ['POST /api/v1/commits/:owner/:name',
    'POST /api/v1/platform/hub/repos/:owner/:name/directories/commits'],
  lists: ['POST /api/v1/annotation-queues/:queue/runs',
    'POST /api/v1/annotation-queues/:queue/runs/by-key', 'POST /api/v1/workspaces/current/secrets'],
}

/** A text for each pattern: a new one needs its text here. */
const texts: readonly string[] = ['shop', 'r12', '0'.repeat(64), 'KEY_1', 'x', 'values.x', '7',
  'messages']

/** A value that the schema takes, with every declared member, and a stray one in each object. */
function sampleOf(shape: Shape, name: string): unknown {
  if (shape.const !== undefined) return shape.const
  if (shape.enum) return shape.enum[0]
  const { anyOf } = shape
  if (anyOf) return sampleOf(anyOf.find(({ type }) => isDeep(type)) ?? anyOf[0]!, name)
  if (shape.type === 'array') {
    return Array.from({ length: Math.min(Math.max(shape.minItems ?? 0, 1), shape.maxItems ?? 1) },
      () => sampleOf(shape.items ?? {}, name))
  }
  if (shape.type === 'object') return objectOf(shape)
  if (shape.type === 'string') return textFor(shape, name)
  if (shape.type === 'boolean') return true
  if (shape.type === 'null') return null
  return shape.type === undefined ? { [stray]: 'free' } : Math.max(shape.minimum ?? 1, 1)
}

const isDeep = (type: string | undefined) => type === 'object' || type === 'array'

function isClosed({ properties, patternProperties, additionalProperties }: Shape): boolean {
  return properties !== undefined && patternProperties === undefined && !additionalProperties
}

function objectOf(shape: Shape): object {
  const declared = Object.entries(shape.properties ?? {})
    .map(([each, inner]) => [each, sampleOf(inner, each)] as const)
  const refused = isClosed(shape) && shape.additionalProperties === false
  return { ...Object.fromEntries(declared), ...isClosed(shape) && !refused && { [stray]: '../x' } }
}

function textFor({ format, pattern }: Shape, name: string): string {
  if (format === 'uuid') return '00000000-0000-4000-8000-000000000000'
  if (format === 'date-time') return '2026-01-01T00:00:00Z'
  if (pattern === undefined) return 'x'
  const found = texts.find((text) => new RegExp(pattern, 'u').test(text))
  if (found === undefined) throw new Error(`A text for ${name}, ${pattern}, is to be named here.`)
  return found
}

/** Where a value has stray members that are no part of free JSON. */
function straysIn(shape: Shape, value: unknown): boolean {
  if (shape.anyOf)
    return shape.anyOf.filter(({ type }) => isDeep(type) || type === undefined)
      .every((each) => straysIn(each, value)) && typeof value === 'object' && value !== null
  if (Array.isArray(value)) return value.some((each) => straysIn(shape.items ?? {}, each))
  if (typeof value !== 'object' || value === null) return false
  const own = isClosed(shape) && stray in value
  return own || Object.entries(shape.properties ?? {})
    .some(([name, each]) => straysIn(each, (value as Record<string, unknown>)[name]))
}

interface CheckedPart {
  readonly route: RouteOptions
  readonly part: Part
  readonly schema: Shape
}

function partsOf(routes: readonly RouteOptions[]): readonly CheckedPart[] {
  return routes.flatMap((route) =>
    (['params', 'querystring', 'body'] as const).flatMap((part) => {
      const schema = (route.schema as Partial<Record<Part, Shape>> | undefined)?.[part]
      return schema === undefined ? [] : [{ route, part, schema }]
    })
  )
}

/** As it comes in a query or a path. */
function asTexts(sample: object): object {
  return Object.fromEntries(Object.entries(sample)
    .map(([name, value]) => [name, Array.isArray(value) ? value.map(String) : String(value)]))
}

/** What is wrong with how a route takes a request with stray members; undefined if nothing is. */
function faultOf(app: FastifyInstance, { route, part, schema }: CheckedPart): string | undefined {
  const check = app.validatorCompiler!(
    { schema, httpPart: part, url: route.url, method: String(route.method) } as never,
  )
  const sample = sampleOf(schema, '')
  const { value, error } = check(part === 'body' ? sample : asTexts(sample as object)) as {
    readonly value?: unknown
    readonly error?: Error
  }
  if (!route.url.startsWith('/control/v1/')) {
    return error?.message ?? (straysIn(schema, value) ? 'kept' : undefined)
  }
  return error?.message.includes(`${stray}: is not a member`) ? undefined : `${error}`
}

describe('a request with undeclared members', () => {
  it('is answered without them on every route, or refused by the control API', async () => {
    const { app, routes } = await allRoutes()
    const parts = partsOf(routes)
    expect(parts.length).toBeGreaterThan(250)
    const faults = parts.map((each) =>
      [`${String(each.route.method)} ${each.route.url} ${each.part}`, faultOf(app, each)] as const
    )
    expect(faults.filter(([, fault]) => fault !== undefined)).toEqual([])
    const unchecked = routes.filter(({ method, schema }) =>
      ['POST', 'PUT', 'PATCH'].includes(String(method)) && !(schema as { body?: unknown })?.body
    ).map(({ method, url }) => `${String(method)} ${url}`)
    expect(unchecked.filter((name) => !name.includes('/frontdoor.v1.')).toSorted())
      .toEqual(Object.values(readElsewhere).flat().toSorted())
  })
})
