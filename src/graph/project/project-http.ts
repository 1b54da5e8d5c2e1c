/**
 * Access settings of a langgraph.json: guards, which are not offered yet, and groups of routes that
 * are off. A project that counts on a guard must not be served without it: what it guards would be
 * open to every caller.
 */

import { readFile } from 'node:fs/promises'

import { z } from 'zod'

import { memberOf } from '../../json/index.ts'

/** Keys that may guard, and what is missing without them. */
const guards = {
  auth: 'every caller would see and do everything',
  'http.app': 'its routes and its middleware, which may guard others, would not be there',
} as const

/** Why a project may not be served; undefined if it may. */
export function guardFault(config: unknown): string | undefined {
  const named = Object.entries(guards).filter(([key]) => asksForSomething(memberAt(config, key)))
  if (named.length === 0) return undefined
  const reasons = named.map(([key, loss]) => `${key} is not offered yet: ${loss}`)
  return `${reasons.join('; ')}. Remove ${named.map(([key]) => key).join(' and ')}, or say ` +
    '--ignore-auth to go on without'
}

/** The same for a file; undefined for one that cannot be read, too. Loads nothing. */
export async function guardFaultOfFile(file: string): Promise<string | undefined> {
  try {
    return guardFault(JSON.parse((await readFile(file, 'utf8')).replace(/^\uFEFF/, '')))
  } catch {
    return undefined
  }
}

/** Groups of routes that a project may turn off. */
export const routeGroups = ['assistants', 'threads', 'runs', 'store', 'meta'] as const

/** Name of one group of routes. */
export type RouteGroup = typeof routeGroups[number]

const flag = () => z.boolean('must be true or false').nullish()

/** The keys below `http` that turn a group off. */
export const disablingShape = { disable_assistants: flag(), disable_threads: flag(),
  disable_runs: flag(), disable_store: flag(), disable_meta: flag() }

/** Settings below `http` that a deployment keeps. Absent members were not written. */
export interface HttpSettings {
  /** The file of the app and its export, as `./app.ts:app`. */
  readonly app?: string
  /** Order of the app's middleware and the login; the middleware is first by default. */
  readonly middleware_order?: 'middleware_first' | 'auth_first'
  /** True if callers of the app's own routes are identified. */
  readonly enable_custom_route_auth?: boolean
}

const orders = ['middleware_first', 'auth_first'] as const

/** The keys below `http` that say how an app is served, with this form of paths. */
export function appShape(path: z.ZodType<string>) {
  return { app: path.nullish(), enable_custom_route_auth: flag(),
    middleware_order: z.enum(orders, `must be ${orders.join(' or ')}`).nullish() }
}

type HttpConfig = Readonly<{ [Key in keyof HttpSettings]?: HttpSettings[Key] | null | undefined }>

/** The settings of an app; undefined if none is named. */
export function httpOf(http: HttpConfig | null | undefined): HttpSettings | undefined {
  if (http?.app == null) return undefined
  const { app, middleware_order: order, enable_custom_route_auth: asksCallers } = http
  return { app, ...order && { middleware_order: order },
    ...asksCallers && { enable_custom_route_auth: true } }
}

type Disabling = Readonly<Partial<Record<`disable_${RouteGroup}`, boolean | null | undefined>>>

/** The groups that are off. */
export function disabledRoutesOf(http: Disabling | null | undefined): RouteGroup[] {
  return routeGroups.filter((group) => http?.[`disable_${group}`] === true)
}

/** The member at a path of steps joined by dots; undefined if there is none. */
export function memberAt(config: unknown, path: string): unknown {
  return path.split('.').reduce(memberOf, config)
}

/** False for what templates write of keys that they do not use: null, false, `{}` and so on. */
export function asksForSomething(value: unknown): boolean {
  return Boolean(value) && !(typeof value === 'object' && Object.keys(value!).length === 0)
}
