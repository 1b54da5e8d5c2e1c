/** The schemas of requests of the control API. */

import { Type } from 'typebox'
import type { Static, TSchemaOptions } from 'typebox'

import { bodyMbMax } from '../../deployment/index.ts'
import { JsonObject, Limit, Offset, OneOf } from './json.ts'

const nameForm = '^[a-z0-9-]{1,63}$'
const revisionForm = '^r[1-9][0-9]{0,8}$'
const Text = (maxLength: number, options: TSchemaOptions = {}) =>
  Type.String({ maxLength, ...options })
const Name = (options: TSchemaOptions = {}) =>
  Type.String({ pattern: nameForm, description: 'A DNS label in small letters.', ...options })
const RevisionName = (options: TSchemaOptions = {}) =>
  Type.String({ pattern: revisionForm, examples: ['r12'], ...options })
const Message = () =>
  Type.Optional(Text(1_000, { description: 'What it is for, as people read it later.' }))
const Whole = (minimum: number, maximum: number, options: TSchemaOptions = {}) =>
  Type.Integer({ minimum, maximum, ...options })

/** The path of a deployment. */
export const DeploymentPath = Type.Object({ deployment: Name() })
/** The path of a revision. */
export const RevisionPath = Type.Object({ deployment: Name(), revision: RevisionName() })
/** The path of a chunk. */
export const ChunkPath = Type.Object({ deployment: Name(), revision: RevisionName(),
  sha256: Type.String({ pattern: '^[0-9a-f]{64}$' }) })
/** The path of a secret. */
export const SecretPath = Type.Object({ deployment: Name(),
  name: Type.String({ pattern: '^[A-Za-z_][A-Za-z0-9_]{0,99}$' }) })

/** Which rows of a list are asked for. */
export const PageOf = Type.Object({ limit: Type.Optional(Limit()),
  offset: Type.Optional(Offset()) })

const settings = {
  access: Type.Optional(
    OneOf(['own', 'any'], { default: 'own',
      description: "Whose keys may call it: its owner's, or those of every tenant, each with its " +
        'own data.' }),
  ),
  limits: Type.Optional(Type.Object({
    workers: Type.Optional(Whole(1, 64)),
    memory_mb: Type.Optional(Whole(64, 65_536)),
    concurrency: Type.Optional(Whole(1, 10_000)),
    run_timeout_s: Type.Optional(Whole(1, 86_400)),
    body_mb: Type.Optional(
      Whole(1, bodyMbMax, { description: 'MiB that the body of a request may have.' }),
    ),
    requests: Type.Optional(Type.Union([
      Type.Object({ count: Whole(1, 1_000_000), interval_s: Whole(1, 86_400) }),
      Type.Null(),
    ], { description: 'How many requests all callers together may send to all members in so many ' +
      'seconds; null for any number.' })),
  }, { description: 'Bounds on each member, but for requests; what is left out stays, or has its ' +
    'default.' })),
  hosts: Type.Optional(
    Type.Array(Text(253), { maxItems: 20, description: 'Host names of its own.' }),
  ),
}

/** Body of requests that create a deployment. */
export const CreateDeployment = Type.Object({
  name: Name(),
  ...settings,
  preview: Type.Optional(
    Type.Object({ of: Name(), label: Name(),
      ttl_s: Whole(60, 31_536_000, { description: 'It goes when it was not used for so long.' }) }),
  ),
}, { examples: [{ name: 'shop' }] })
/** A checked body of `CreateDeployment`. */
export type CreateDeployment = Static<typeof CreateDeployment>

/** Body of requests that change a deployment. */
export const PatchDeployment = Type.Object({ ...settings,
  paused: Type.Optional(Type.Boolean({ description: 'True: none of its runs starts, ' +
    'whether it is new, queued, delayed or of a cron; those that have started go on.' })) }, {
  examples: [{ limits: { body_mb: 5, requests: { count: 600, interval_s: 60 } } }],
})
/** A checked body of `PatchDeployment`. */
export type PatchDeployment = Static<typeof PatchDeployment>

/** Query of requests that remove a deployment. */
export const DeleteDeployment = Type.Object({ data: Type.Optional(OneOf(['remove'])) })

/** Body of requests that begin a revision. */
export const CreateRevision = Type.Object({
  manifest: JsonObject({ description: 'What `heddle build` writes.' }),
  message: Message(),
}, { examples: [{ manifest: {}, message: 'Answer in French' }] })

const Sha256 = () => Type.String({ pattern: '^[0-9a-f]{64}$' })
const Whereabouts = () => Type.Union([Text(1_000), Type.Null()])

/** Body of requests that begin a build. */
export const CreateBuild = Type.Object({
  archive: Type.Object({
    hash: Sha256(),
    bytes: Whole(1, Number.MAX_SAFE_INTEGER),
    files: Whole(0, Number.MAX_SAFE_INTEGER),
    chunks: Type.Array(Type.Object({ sha256: Sha256(), bytes: Whole(1, 4 * 1024 * 1024) }), {
      minItems: 1,
      maxItems: 1_000,
    }),
  }, { description: "The package archive of the project's own files." }),
  config: Text(255, { description: 'The langgraph.json, from the root of the files.' }),
  wants_env: Type.Optional(
    Type.Array(Text(1_000), { maxItems: 1_000,
      description: 'Names of the variables of its dotenv file.' }),
  ),
  source: Type.Optional(
    Type.Object({ commit: Whereabouts(), branch: Whereabouts(), dirty: Type.Boolean() }),
  ),
  message: Message(),
}, {
  examples: [{
    archive: { hash: '0'.repeat(64), bytes: 1_024, files: 1,
      chunks: [{ sha256: '0'.repeat(64), bytes: 300 }] },
    config: 'langgraph.json',
  }],
})
/** A checked body of `CreateBuild`. */
export type CreateBuild = Static<typeof CreateBuild>

/** Body of requests that start a build. */
export const StartBuild = Type.Object({
  activate: Type.Optional(
    Type.Boolean({ default: false, description: 'Whether it is made active when it is built.' }),
  ),
}, { examples: [{}] })

/** Query of requests that remove a revision. */
export const DeleteRevision = Type.Object({
  force: Type.Optional(Type.Boolean({ description: 'Although runs or threads need it.' })),
})

const RunsMove = () =>
  Type.Optional(
    Type.Boolean({ default: false, description: 'Runs under way stop at their next superstep and ' +
      'go on with the revision, if it has the nodes that they would run.' }),
  )

/** Body of requests that make a revision active. */
export const ActivateRevision = Type.Object({
  percent: Type.Optional(Whole(1, 100, { default: 100, description: 'The share of new runs.' })),
  now: RunsMove(),
  expect: Type.Optional(RevisionName({ description: 'The revision that must be active before.' })),
  watch_s: Type.Optional(Whole(0, 3_600, { description: 'How long ended runs are watched.' })),
  prepare_s: Type.Optional(Whole(5, 1_800, { description: 'How long loading may take.' })),
  message: Message(),
}, { examples: [{ percent: 100, now: false }] })

/** Body of requests that go back to an earlier revision. */
export const Rollback = Type.Object({
  to: Type.Optional(RevisionName({ description: 'The one that was active before by default.' })),
  now: RunsMove(),
  message: Message(),
}, { examples: [{}] })

const restart = Type.Optional(
  Type.Boolean({ default: true, description: 'False to keep the change for the next roll-out.' }),
)
const SecretValue = Text(65_536)

/** Body of requests that set a secret. */
export const SetSecret = Type.Object({ value: SecretValue, restart }, {
  examples: [{ value: 'the key' }],
})

/** Body of requests that set several secrets. */
export const SetSecrets = Type.Object({
  values: Type.Record(Type.String(), SecretValue, { maxProperties: 100 }),
  remove: Type.Optional(
    Type.Array(Text(100), { maxItems: 100, description: 'Names of those that go.' }),
  ),
  restart,
}, { examples: [{ values: { MODEL_KEY: 'the key' } }] })

/** Query of requests that remove a secret. */
export const DeleteSecret = Type.Object({ restart })

/** Query of requests that read events. */
export const ReadEvents = Type.Object({
  follow: Type.Optional(
    Type.Boolean({ default: true, description: 'False to end at the newest event.' }),
  ),
})

const levels = ['debug', 'info', 'warn', 'error'] as const

/** Query of requests that read lines. */
export const ReadLines = Type.Object({
  follow: Type.Optional(Type.Boolean({ default: false })),
  revision: Type.Optional(RevisionName()),
  level: Type.Optional(OneOf(levels, { description: 'This level and those above.' })),
  since: Type.Optional(Type.String({ format: 'date-time' })),
  limit: Type.Optional(Whole(1, 5_000, { default: 1_000 })),
  build: Type.Optional(RevisionName({ description: 'The lines of this build instead.' })),
})
/** A checked query of `ReadLines`. */
export type ReadLines = Static<typeof ReadLines>
