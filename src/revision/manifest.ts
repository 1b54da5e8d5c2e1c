/** The manifest of a revision: its content, and the hash that names it. */

import { createHash } from 'node:crypto'

import { Type } from 'typebox'
import type { Static, TSchema } from 'typebox'
import { Compile } from 'typebox/compile'
import { Errors } from 'typebox/value'

import { httpBounds, routeGroups, trialCharacters } from '../graph/index.ts'
import type { LoginSecurity, RouteGroup } from '../graph/index.ts'
import { isObject, objectOf } from '../json/index.ts'
import { expiryStrategies } from '../search/index.ts'
import type { TimeToLiveRequest } from '../search/index.ts'
import { requirePath } from './tree-path.ts'
import { RevisionError } from './revision-error.ts'
import { chunkBytesMax, pathBytesMax, revisionLimits } from './revision-limits.ts'
import type { RevisionLimits } from './revision-limits.ts'

/** Archives of a revision. */
const archivesMax = 10_000

const closed = { additionalProperties: false } as const

const Sha256 = () => Type.String({ pattern: '^[0-9a-f]{64}$' })
const Path = () => Type.String({ maxLength: pathBytesMax })
const Text = () => Type.String({ maxLength: 1_000 })
const Count = (minimum = 0) => Type.Integer({ minimum, maximum: Number.MAX_SAFE_INTEGER })

const Names = (maxItems: number = httpBounds.names) =>
  Type.Unsafe<readonly string[]>(
    Type.Array(Type.String({ maxLength: httpBounds.nameCharacters }), { maxItems }),
  )
const HeaderChoice = () =>
  Type.Object({ includes: Type.Optional(Names()), excludes: Type.Optional(Names()) }, closed)

type ExpiryStrategy = TimeToLiveRequest['strategy']

/** The settings of langgraph.json for webhooks, items, threads and routes: `ProjectSettings`. */
const Settings = Type.Object({
  webhooks: Type.Object({
    env_prefix: Text(),
    headers: Type.Record(Text(), Type.String({ maxLength: 8_192 }), { maxProperties: 100 }),
    url: Type.Object({
      require_https: Type.Boolean(),
      allowed_domains: Type.Array(Text(), { maxItems: 1_000 }),
      allowed_ports: Type.Array(Type.Integer(), { maxItems: 1_000 }),
      max_url_length: Count(1),
      disable_loopback: Type.Optional(Type.Boolean()),
    }, closed),
  }, closed),
  disable_webhooks: Type.Boolean(),
  store: Type.Object({ ttl_ms: Count(), refresh_on_read: Type.Boolean() }, closed),
  time_to_live: Type.Union([
    Type.Object({ strategy: Type.Unsafe<ExpiryStrategy>(Type.Enum([...expiryStrategies])),
      minutes: Type.Number({ exclusiveMinimum: 0, maximum: 52_560_000 }) }, closed),
    Type.Null(),
  ]),
  disabled_routes: Type.Optional(
    Type.Array(Type.Unsafe<RouteGroup>(Type.Enum([...routeGroups])), {
      maxItems: routeGroups.length,
    }),
  ),
  auth: Type.Optional(Type.Object({
    path: Text(),
    disable_studio_auth: Type.Optional(Type.Boolean()),
    cache: Type.Optional(Type.Object({
      cache_keys: Type.Array(Text(), { minItems: 1, maxItems: 32 }),
      ttl_seconds: Type.Number({ exclusiveMinimum: 0, maximum: 86_400 }),
      max_size: Type.Integer({ minimum: 1, maximum: 100_000 }),
    }, closed)),
    openapi: Type.Optional(Type.Unsafe<LoginSecurity>(Type.Object({
      securitySchemes: Type.Record(Type.String(), Type.Object({})),
      security: Type.Array(Type.Record(Type.String(), Type.Array(Type.String()))),
    }, closed))),
  }, closed)),
  http: Type.Optional(Type.Object({
    app: Type.Optional(Text()),
    cors: Type.Optional(Type.Object({
      allow_origins: Type.Optional(Names(httpBounds.origins)),
      allow_origin_regex: Type.Optional(Type.String({ maxLength: httpBounds.regexCharacters })),
      allow_methods: Type.Optional(Names()),
      allow_headers: Type.Optional(Names()),
      allow_credentials: Type.Optional(Type.Boolean()),
      expose_headers: Type.Optional(Names()),
      max_age: Type.Optional(Type.Integer({ minimum: 0, maximum: httpBounds.maxAgeSeconds })),
    }, closed)),
    mount_prefix: Type.Optional(Type.String({ maxLength: httpBounds.prefixCharacters })),
    configurable_headers: Type.Optional(HeaderChoice()),
    logging_headers: Type.Optional(HeaderChoice()),
    middleware_order: Type.Optional(
      Type.Union([Type.Literal('middleware_first'), Type.Literal('auth_first')]),
    ),
    enable_custom_route_auth: Type.Optional(Type.Boolean()),
  }, closed)),
}, closed)

const ArchiveEntry = Type.Object({
  kind: Type.Union([Type.Literal('own'), Type.Literal('package'), Type.Literal('links')], {
    description:
      '`own` has the files of the project. `package` has those of one package. `links` ' +
      'has the links between packages.',
  }),
  path: Type.String({ maxLength: pathBytesMax,
    description: 'The folder of a package, from the root; empty for the others.' }),
  hash: Sha256(),
  bytes: Count(1),
  files: Count(),
  chunks: Type.Array(
    Type.Object({ sha256: Sha256(), bytes: Type.Integer({ minimum: 1, maximum: chunkBytesMax }) },
      closed),
    { minItems: 1, maxItems: 1_000 },
  ),
}, closed)

/** Form of a manifest, as JSON. */
const ManifestSchema = Type.Object({
  version: Type.Literal(1),
  node: Type.Integer({ minimum: 24, maximum: 1_000,
    description: 'The major version of Node.js that it was built with.' }),
  platform: Type.Union([Type.String({ pattern: '^[a-z0-9]+(-[a-z0-9_]+){1,2}$', maxLength: 40 }),
    Type.Null()], { description: 'Where its native packages run, as `linux-x64-glibc`.' }),
  root: Type.String({ maxLength: pathBytesMax,
    description: 'The folder of the project, from the root; empty if it is the root.' }),
  config: Path(),
  graphs: Type.Array(
    Type.Object({ graph_id: Type.String({ minLength: 1, maxLength: 128 }), path: Path(),
      export: Text() }, closed),
    { minItems: 1, maxItems: 1_000 },
  ),
  archives: Type.Array(ArchiveEntry, { minItems: 1, maxItems: archivesMax }),
  lock_sha256: Sha256(),
  env: Type.Record(Type.String({ maxLength: 1_000 }), Type.String({ maxLength: 65_536 }), {
    maxProperties: 1_000,
    description: 'The variables that langgraph.json itself sets.',
  }),
  wants_env: Type.Array(Text(), { maxItems: 1_000,
    description: 'Names of the variables in its dotenv file. Their values are not part of it.' }),
  settings: Type.Optional(Settings),
  check: Type.Optional(Type.Object({
    graph_id: Type.String({ minLength: 1, maxLength: 128 }),
    input_json: Type.String({ maxLength: trialCharacters }),
    expect_json: Type.Optional(Type.String({ maxLength: trialCharacters })),
  }, { ...closed, description: 'The run that it must stand before others are sent to it.' })),
  source: Type.Object({
    commit: Type.Union([Text(), Type.Null()]),
    branch: Type.Union([Text(), Type.Null()]),
    dirty: Type.Boolean(),
  }, closed),
}, closed)

/** A checked manifest, or one that was just made. */
export type Manifest = Static<typeof ManifestSchema>

/** One archive of a manifest. */
export type ManifestArchive = Manifest['archives'][number]

/** The archive of the project's own files. */
export function ownArchive({ archives }: Manifest): ManifestArchive {
  return archives.find(({ kind }) => kind === 'own')!
}

/** The archives of packages and of links between them, in the order of the manifest. */
export function packageArchives({ archives }: Manifest): ManifestArchive[] {
  return archives.filter(({ kind }) => kind !== 'own')
}

/**
 * Hash that names a revision, in hexadecimal digits. It covers all of the manifest except `source`.
 */
export function revisionHash({ source: _, ...content }: Manifest): string {
  return sha256(canonicalJson(content))
}

/** Hash of a set of packages and their places, in hexadecimal digits. */
export function packagesHash(manifest: Manifest): string {
  const places = packageArchives(manifest).map(({ kind, path, hash }) => ({ kind, path, hash }))
  return sha256(canonicalJson(places))
}

/** JSON with sorted names and without space. */
function canonicalJson(value: unknown): string {
  return JSON.stringify(value,
    (_, each: unknown) =>
      typeof each === 'object' && each !== null && !Array.isArray(each)
        ? Object.fromEntries(
          Object.entries(each).toSorted(([one], [other]) => one < other ? -1 : 1),
        )
        : each)
}

/** Compiled checks, made at the first use. They check a manifest of 1 MB in some milliseconds. */
let compiled: ReturnType<typeof compile> | undefined

function compile() {
  return { manifest: Compile(ManifestSchema), archive: Compile(ArchiveEntry) }
}

/** Checks what came as JSON. Throws RevisionError: `bad_manifest` or `too_large`. */
export function readManifest(value: unknown, limits: RevisionLimits = revisionLimits): Manifest {
  compiled ??= compile()
  if (!compiled.manifest.Check(value)) throw broken(faultIn(value, compiled.archive))
  requireConsistent(value)
  requireWithin(value, limits)
  return value
}

/**
 * The first fault. Explaining takes a hundred times as long as checking: only one archive is
 * explained.
 */
function faultIn(value: unknown, archive: ReturnType<typeof compile>['archive']): string {
  const said = isObject(value) ? value['archives'] : undefined
  const archives: readonly unknown[] = Array.isArray(said) ? said : []
  const at = archives.findIndex((each) => !archive.Check(each))
  if (at >= 0) return explained(ArchiveEntry, archives[at], `archives.${at}`)
  if (archives.length > archivesMax) return `archives must not have more than ${archivesMax} items`
  const isLong = archives.length > 1
  return explained(ManifestSchema,
    isLong ? { ...objectOf(value), archives: archives.slice(0, 1) } : value)
}

function explained(schema: TSchema, value: unknown, place = ''): string {
  const [error] = Errors(schema, value)
  const within = error?.instancePath.slice(1).replaceAll('/', '.') ?? ''
  const where = [place, within].filter((part) => part !== '').join('.')
  return `${where || 'it'} ${error?.message ?? 'is wrong'}`
}

function requireConsistent({ archives, root, config, graphs, check }: Manifest): void {
  requireTrial(graphs, check)
  if (archives.filter(({ kind }) => kind === 'own').length !== 1) {
    throw broken('archives must have one of the kind "own"')
  }
  for (const path of [config, ...root === '' ? [] : [root], ...graphs.map(({ path }) => path)]) {
    requirePath(path)
  }
  const places = new Set<string>()
  for (const { kind, path } of archives) {
    if (kind === 'package' ? !isPackagePlace(path) : path !== '') {
      throw broken(`archives has no place for one at ${JSON.stringify(path)}`)
    }
    if (kind === 'package') requirePath(path)
    if (places.has(`${kind} ${path}`)) throw broken('archives has two at one place')
    places.add(`${kind} ${path}`)
  }
}

function requireTrial(graphs: Manifest['graphs'], check: Manifest['check']): void {
  if (check === undefined) return
  const { graph_id: id, input_json: input, expect_json: expect = 'null' } = check
  if (!graphs.some(({ graph_id }) => graph_id === id)) throw broken('check names no graph')
  try {
    JSON.parse(input)
    JSON.parse(expect)
  } catch {
    throw broken('check has a text that is no JSON')
  }
}

/**
 * True for a place below a folder of packages. Other revisions' own files lie beside, in folders
 * whose names begin with a hash: nothing may be put into these.
 */
export function isPackagePlace(path: string): boolean {
  return /(^|\/)node_modules\/./.test(path) && !/^[0-9a-f]{64}/i.test(path)
}

function requireWithin({ archives }: Manifest, limits: RevisionLimits): void {
  const sum = (of: (archive: ManifestArchive) => number) =>
    archives.reduce((total, archive) => total + of(archive), 0)
  const sizes = {
    compressedBytes: sum(({ chunks }) => chunks.reduce((total, { bytes }) => total + bytes, 0)),
    unpackedBytes: sum(({ bytes }) => bytes),
    files: sum(({ files }) => files),
  }
  const words = { compressedBytes: 'compressed bytes', unpackedBytes: 'bytes', files: 'files' }
  for (const name of ['compressedBytes', 'unpackedBytes', 'files'] as const) {
    if (sizes[name] > limits[name]) {
      throw new RevisionError('too_large',
        `The revision has ${sizes[name]} ${words[name]}, and the limit is ${limits[name]}.`)
    }
  }
}

function broken(what: string): RevisionError {
  return new RevisionError('bad_manifest', `The manifest is not valid: ${what}.`)
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}
