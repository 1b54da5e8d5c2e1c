/** Builds over records: how they are begun, uploaded and given to a member. */

import { createHash } from 'node:crypto'
import { posix } from 'node:path'

import type { Env } from '../../../cluster/index.ts'
import { HeddleError, ignoreNotFound, messageOf } from '../../errors.ts'
import type { CatalogClient, DocumentPort } from '../../platform/index.ts'
import { buildLimitMs, requirePath, revisionLimits } from '../../revision/index.ts'
import type { ManifestArchive, SourceForm } from '../../revision/index.ts'
import type { Deployment } from '../deployment.ts'
import type { Deployments } from '../deployments.ts'
import { buildCatalog, recordsOf } from '../records/record-places.ts'
import type { Revision } from '../revision.ts'
import { buildOf, buildRecord, noGit } from './build-record.ts'
import type { Build, BuildPhase } from './build-record.ts'
import { missingSource, putSourceChunk, putSourceFile } from './build-source.ts'
import type { BegunBuild, Builds, NewBuild, StartRequest } from './builds.ts'

/** Records, documents and ports that builds are kept with. */
export interface BuildParts {
  readonly catalogs: CatalogClient
  readonly documents: DocumentPort
  readonly records: Pick<Deployments,
    'get' | 'revision' | 'beginBuild' | 'endBuild' | 'changeRevision' | 'putChunk' | 'missing'
      | 'note'>
  readonly env: Pick<Env, 'nowMs' | 'secret' | 'after' | 'uuid' | 'log'>
}

/** Finds a member that builds. */
export interface BuildMembers {
  /** True if a member has taken the build; with null, if one would take a build. */
  take(build: string | null): Promise<boolean>
}

/** Milliseconds for uploading files, and for which an upload address is valid. */
const uploadMs = 900_000
/** Milliseconds after the time limit of a build before its record is given up. */
const slackMs = 120_000
/** Builds of a tenant that have not ended. The files of each may fill 250 MB of the store. */
const unendedMax = 8

/** Builds that are kept in records and given to members. */
export function buildsOver(parts: BuildParts & { readonly members: BuildMembers }): Builds {
  const { catalogs, documents, records, env, members } = parts
  return {
    begin: async (deployment, options) => {
      if (!await members.take(null)) throw nobodyBuilds()
      return await begun(parts, deployment, options)
    },
    putChunk: async ({ id }, sha256, data) => {
      const build = await readBuild(catalogs, id)
      if (build?.phase !== 'waiting') throw noBuild()
      await putSourceChunk(documents, id, build.source, sha256, data)
    },
    receive: async (address, content) => {
      const build = await addressed(catalogs, address)
      if (build === undefined || build.endsAtMs < env.nowMs()) throw noAddress()
      // The first caller that changes the record has used the address.
      await moved(catalogs, build, 'waiting', 'receiving').catch((error: unknown) => {
        throw HeddleError.from(error).code === 'stale' ? noAddress() : error
      })
      await putSourceFile(documents, build.id, content)
      await moved(catalogs, build, 'receiving', 'received')
    },
    start: async ({ id, name }, options) => {
      requireConfig(options.config)
      const build = await readBuild(catalogs, id)
      if (build === undefined) throw noBuild()
      const isUploaded = build.phase === (build.source.kind === 'tar' ? 'received' : 'waiting')
        && (await missingSource(documents, id, build.source)).length === 0
      if (build.phase === 'building' || build.phase === 'built') {
        throw new HeddleError('stale', `${name} is being built already.`)
      }
      if (!isUploaded) {
        throw new HeddleError('not_ready',
          `The files of ${name} are not uploaded: send them first.`)
      }
      await started(parts, build, options)
    },
    phase: async ({ id }) => (await readBuild(catalogs, id))?.phase,
  }

  async function started(_: BuildParts, build: Build, { by, config, activates }: StartRequest) {
    await catalogs.change(buildCatalog, build.id, {
      bodyJson: JSON.stringify({ by, activates, ...config !== undefined && { config } }),
      expected: { phase: build.phase },
    })
    if (!await members.take(build.id)) throw nobodyBuilds()
    await records.note(build.deploymentId, { kind: 'revision', by,
      data: { revision: build.revision, state: 'building' } })
  }
}

async function begun({ catalogs, records, env }: BuildParts, deployment: Deployment,
  { by, message, archive, config = '', wantsEnv = [], source = noGit }: NewBuild
): Promise<BegunBuild> {
  if (archive !== undefined) requireSize(archive)
  requireConfig(config)
  await requireTurn(catalogs, deployment.tenant)
  const form: SourceForm = archive === undefined ? { kind: 'tar' } : { kind: 'archive', archive }
  const secret = archive === undefined ? env.secret() : ''
  const revision = await records.beginBuild(deployment, { message, by })
  const nowMs = env.nowMs()
  const build: Build = { id: revision.id, deploymentId: deployment.id, deployment: deployment.name,
    tenant: deployment.tenant, revision: revision.name, phase: 'waiting', by, source: form, config,
    wantsEnv, git: source, activates: false, addressHash: secret && hashOf(secret),
    endsAtMs: nowMs + uploadMs, builder: null }
  await catalogs.create(buildCatalog, buildRecord(build, nowMs))
  await requireTurn(catalogs, deployment.tenant, build.id).catch(async (error: unknown) => {
    const { message: reason } = HeddleError.from(error)
    await catalogs.delete(buildCatalog, build.id).catch(ignoreNotFound)
    await records.changeRevision(revision, { state: 'refused', reason, expiresAtMs: null })
    throw error
  })
  await records.note(deployment.id, { kind: 'revision', by,
    data: { revision: revision.name, state: revision.state, message } })
  return { revision, address: secret && `${revision.id}.${secret}`,
    missing: archive?.chunks.map(({ sha256 }) => sha256) ?? [] }
}

/** Throws `full` if too many builds of a tenant have not ended, or came before this one. */
async function requireTurn(catalogs: CatalogClient, tenant: string, id?: string): Promise<void> {
  const all = await recordsOf(catalogs, buildCatalog, { sortBy: 'created', descending: false })
  const own = all.map(buildOf).filter((build) => build.tenant === tenant)
  const before = id === undefined ? own.length : own.findIndex((build) => build.id === id)
  if (before < unendedMax) return
  throw new HeddleError('full', `${unendedMax} builds of ${tenant} wait for their files or are ` +
    'under way: deploy again when one has ended.')
}

/** Says that this process builds it. `stale` if another one does. */
export async function takeBuild({ catalogs, env }: Pick<BuildParts, 'catalogs' | 'env'>, id: string,
  builder: string): Promise<Build> {
  const build = await readBuild(catalogs, id)
  if (build === undefined || build.phase === 'building' || build.phase === 'built') throw noBuild()
  return buildOf(
    await catalogs.change(buildCatalog, id, { expected: { phase: build.phase },
      bodyJson: JSON.stringify({ phase: 'building', builder,
        endsAtMs: env.nowMs() + buildLimitMs + slackMs }) }),
  )
}

/** `stale` if it is in another phase, `not_found` if it has ended. */
export async function moved(catalogs: CatalogClient, { id, builder }: Build, from: BuildPhase,
  to: BuildPhase): Promise<void> {
  await catalogs.change(buildCatalog, id, { bodyJson: JSON.stringify({ phase: to }),
    expected: { phase: from, ...builder !== null && { builder } } })
}

async function readBuild(catalogs: CatalogClient, id: string): Promise<Build | undefined> {
  const [record] = await catalogs.get(buildCatalog, [id])
  return record && buildOf(record)
}

async function addressed(catalogs: CatalogClient, address: string): Promise<Build | undefined> {
  const [, id, secret] = /^([0-9a-f-]{36})\.([\w-]{43})$/.exec(address) ?? []
  const build = id === undefined ? undefined : await readBuild(catalogs, id)
  // The duration of a comparison reveals nothing of a hash.
  return build?.addressHash === hashOf(secret ?? '') ? build : undefined
}

function hashOf(secret: string): string {
  return createHash('sha256').update(secret).digest('hex')
}

/** Throws `invalid` for a file that is not one of those that are uploaded. */
function requireConfig(config = ''): void {
  try {
    if (config !== '') requirePath(posix.normalize(config))
  } catch (error) {
    throw new HeddleError('invalid', `config: ${messageOf(error)}`, {}, { cause: error })
  }
}

function requireSize({ bytes, files, chunks }: ManifestArchive): void {
  const sent = chunks.reduce((sum, chunk) => sum + chunk.bytes, 0)
  if (bytes <= revisionLimits.unpackedBytes && files <= revisionLimits.files
    && sent <= revisionLimits.compressedBytes) return
  throw new HeddleError('too_large',
    'The files of the project are too many or too large: name in ' +
      '.heddleignore what its graphs do not need.')
}

function nobodyBuilds(): HeddleError {
  return new HeddleError('not_ready', 'No server here builds: start one with --builds on, or ' +
    'deploy without --remote.')
}

function noBuild(): HeddleError {
  return new HeddleError('not_found', 'The revision is not waiting for its files.')
}

function noAddress(): HeddleError {
  return new HeddleError('not_found', 'This address is not good, or not any more: ask for another.')
}

/** The revision of a build. Throws `not_found`. */
export async function revisionOfBuild({ records }: Pick<BuildParts, 'records'>,
  { deployment, deploymentId, revision }: Build
): Promise<{ readonly deployment: Deployment; readonly revision: Revision }> {
  const found = await records.get(deployment)
  if (found.id !== deploymentId) throw new HeddleError('not_found')
  return { deployment: found, revision: await records.revision(found, revision) }
}
