/** The settings below `http` of a langgraph.json: which pages may call, and which headers count. */

import { z } from 'zod'

import { linearPattern } from '../../settings/index.ts'

/** Names of headers, `*` for any characters. What is excluded is never included. */
export interface HeaderChoice {
  readonly includes?: readonly string[]
  readonly excludes?: readonly string[]
}

/** Rules for web pages: which may call, and what they may send and read. Absent: as usual. */
export interface CorsSettings {
  readonly allow_origins?: readonly string[]
  /** A regular expression, which must match a whole origin. */
  readonly allow_origin_regex?: string
  readonly allow_methods?: readonly string[]
  readonly allow_headers?: readonly string[]
  readonly allow_credentials?: boolean
  readonly expose_headers?: readonly string[]
  /** Seconds for which a browser keeps the answer to a preflight request. */
  readonly max_age?: number
}

/** The settings below `http`, as a deployment keeps them. Absent members were not written. */
export interface HttpSettings {
  /** The file of the app and its export, as `./app.ts:app`. */
  readonly app?: string
  readonly cors?: CorsSettings
  /** A path below which the routes answer as well, as `/agents`. */
  readonly mount_prefix?: string
  /** Headers of a request that its run sees. */
  readonly configurable_headers?: HeaderChoice
  /** Headers of a request that are in the log. */
  readonly logging_headers?: HeaderChoice
  /** Order of the app's middleware and the login; the middleware is first by default. */
  readonly middleware_order?: 'middleware_first' | 'auth_first'
  /** True if callers of the app's own routes are identified. */
  readonly enable_custom_route_auth?: boolean
}

/** Bounds of the settings, which members keep in memory. */
export const httpBounds = { names: 100, nameCharacters: 256, origins: 1_000, regexCharacters: 1_000,
  prefixCharacters: 256, maxAgeSeconds: 31_536_000 } as const

/** Headers by which callers are known. No choice of a project shows them. */
const credentials: ReadonlySet<string> = new Set(['authorization', 'proxy-authorization', 'cookie',
  'set-cookie', 'x-api-key', 'x-service-key', 'x-auth-token', 'x-csrf-token', 'x-xsrf-token'])

/** True for a header that holds what a caller proves itself with. The name is in lower case. */
export function holdsCredentials(name: string): boolean {
  return credentials.has(name)
}

/** The first segments of paths that are the server's own, or those of its API. */
const taken: ReadonlySet<string> = new Set(['d', 'control', 'studio', 'internal', 'metrics',
  'api-host', 'auth', 'admin', 'assistants', 'threads', 'runs', 'store', 'info', 'ok', 'docs',
  'openapi.json', 'mcp', 'a2a', 'ui', '.well-known'])

const orders = ['middleware_first', 'auth_first'] as const
const flag = () => z.boolean('must be true or false').nullish()

function texts(max: number) {
  return z.array(z.string('must be a text').max(httpBounds.nameCharacters, 'is too long'), {
    error: 'must be a list of texts',
  }).max(max, `may have ${max} entries`).nullish()
}

const headerChoice = z.looseObject({ includes: texts(httpBounds.names),
  excludes: texts(httpBounds.names), include: texts(httpBounds.names),
  exclude: texts(httpBounds.names) }, {
  error: 'must be {"includes": ["x-…"], "excludes": []}',
}).nullish()

const cors = z.looseObject({
  allow_origins: texts(httpBounds.origins),
  allow_origin_regex: z.string('must be a text').max(httpBounds.regexCharacters, 'is too long')
    .refine((pattern) => originPattern(pattern) !== undefined,
      'is no regular expression, or one that takes too long: leave out back references, ' +
        'look-around and large repeats').nullish(),
  allow_methods: texts(httpBounds.names),
  allow_headers: texts(httpBounds.names),
  allow_credentials: flag(),
  expose_headers: texts(httpBounds.names),
  max_age: z.int('must be a whole number').min(0, 'must not be below 0')
    .max(httpBounds.maxAgeSeconds, 'is too long').nullish(),
}, { error: 'must be an object' }).nullish()

const mountPrefix = z.string('must be a path, like "/agents"')
  .max(httpBounds.prefixCharacters, 'is too long')
  .regex(/^(?:\/[\w.~-]+)*\/?$/, 'must be a path of letters, digits and -._~, like "/agents"')
  .refine((path) => !taken.has(path.split('/')[1]!), {
    error: ({ input }) => `must not begin with ${input}, which has routes of the server already`,
  })
  .refine((path) => !path.split('/').some((each) => each === '.' || each === '..'),
    'must be a path without dot segments').nullish()

/** The keys below `http` that this file reads, with this form of the paths of modules. */
export function httpShape(path: z.ZodType<string>) {
  return { app: path.nullish(), cors, mount_prefix: mountPrefix, configurable_headers: headerChoice,
    logging_headers: headerChoice,
    middleware_order: z.enum(orders, `must be ${orders.join(' or ')}`).nullish(),
    enable_custom_route_auth: flag() }
}

type HttpConfig = z.infer<z.ZodObject<ReturnType<typeof httpShape>>>

/** The settings that were written; undefined if there are none. */
export function httpSettingsOf(
  http: HttpConfig | null | undefined,
): HttpSettings | undefined {
  if (http == null) return undefined
  const prefix = http.mount_prefix?.replace(/\/$/, '')
  const found: HttpSettings = {
    ...written({ cors: written(http.cors ?? {}, corsNames),
      configurable_headers: choiceOf(http.configurable_headers),
      logging_headers: choiceOf(http.logging_headers) }),
    ...http.app != null && { app: http.app },
    ...prefix && { mount_prefix: prefix },
    ...http.middleware_order && { middleware_order: http.middleware_order },
    ...http.enable_custom_route_auth && { enable_custom_route_auth: true },
  }
  return Object.keys(found).length > 0 ? found : undefined
}

/** A warning for each header that is named and never shown. */
export function secretHeaders(http: HttpSettings | undefined): readonly string[] {
  return (['configurable_headers', 'logging_headers'] as const).flatMap((key) =>
    (http?.[key]?.includes ?? []).filter(holdsCredentials).map((name) =>
      `http.${key} names ${name}, which is never shown: it is what callers prove themselves with.`
    )
  )
}

/** A regular expression for whole origins, in linear time. Undefined for one that is broken. */
export function originPattern(pattern: string): RegExp | undefined {
  // By itself first: brackets that do not fit must not open the group around it.
  return linearPattern(pattern) && linearPattern(`^(?:${pattern})$`)
}

const corsNames = ['allow_origins', 'allow_origin_regex', 'allow_methods', 'allow_headers',
  'allow_credentials', 'expose_headers', 'max_age'] as const

/** The members that say something, of these names if any are given. */
function written<Of extends object>(members: Of,
  names: readonly string[] = Object.keys(members)): { [Name in keyof Of]?: NonNullable<Of[Name]> } {
  return Object.fromEntries(Object.entries(members).filter(([name, value]) => {
    const isEmpty = typeof value === 'object' && value !== null && !Array.isArray(value) &&
      Object.keys(value).length === 0
    return names.includes(name) && value != null && !isEmpty
  })) as { [Name in keyof Of]?: NonNullable<Of[Name]> }
}

/** Both spellings of its members are accepted. Names of headers are in small letters. */
function choiceOf(choice: z.infer<typeof headerChoice>): HeaderChoice {
  const { includes, include = includes, excludes, exclude = excludes } = choice ?? {}
  const small = (names: readonly string[]) => names.map((name) => name.toLowerCase())
  return { ...include && { includes: small(include) }, ...exclude && { excludes: small(exclude) } }
}
