/** A member that builds: one build of a tenant at a time, and each in a process of its own. */

import { join } from 'node:path'

import { FairSemaphore, pause } from '../../../cluster/index.ts'
import type { Env } from '../../../cluster/index.ts'
import { HeddleError, ignoreNotFound } from '../../errors.ts'
import { buildRemotely, clearBuilds, platformHere, RevisionError } from '../../revision/index.ts'
import type { RemotelyBuilt } from '../../revision/index.ts'
import { buildCatalog, recordsOf, sourcePlace } from '../records/record-places.ts'
import type { Rollouts } from '../rollout/rollouts.ts'
import { BuildLines } from './build-lines.ts'
import { buildOf, endOf } from './build-record.ts'
import type { Build } from './build-record.ts'
import { fetchSource } from './build-source.ts'
import { moved, revisionOfBuild, takeBuild } from './builds-over.ts'
import type { BuildParts } from './builds-over.ts'

/** Ports and settings of a member that builds. */
export interface BuilderParts extends BuildParts {
  readonly env: BuildParts['env'] & Pick<Env, 'every'>
  readonly rollouts: Pick<Rollouts, 'activate'>
  /** True if this member builds. */
  readonly builds: boolean
  /** True to leave the logins out that projects name; by default false. */
  readonly ignoreAuth?: boolean | undefined
  /** The data directory of this member. */
  readonly directory: string
  readonly variables: Readonly<Record<string, string | undefined>>
  /** Hosts and ranges of the server's network that packages may come from. */
  readonly allowed?: readonly string[]
  /** Builds; by default in a process of its own. */
  readonly build?: typeof buildRemotely
  /** The id of this member, and whether it or another one is there. */
  readonly self: string
  isMember(id: string): boolean
  /** True if this member looks after the builds of members that are gone. */
  owns(): boolean
}

/** The builds of a member. */
export interface Builder {
  /** True if this member has taken the build, or with null would take one. */
  take(build: string | null): Promise<boolean>
  /** Ends builds whose member is gone. Call when records can be read. */
  begin(): void
  close(): Promise<void>
}

/** Builds under way on a member, and those that wait for their turn. */
const turns = { inAll: 2, each: 1, waiting: 50, waitingEach: 5,
  full: 'Too many builds wait for their turn: deploy again in a moment.' }
/** Milliseconds between two searches for builds whose member is gone. */
const lookMs = 15_000
/** Bounds on repeating an activation, as another roll-out may be under way. */
const activateTries = { count: 60, pauseMs: 2_000 }

/** The builder of this member, which takes no build before `begin`. */
export function builderOf(parts: BuilderParts): Builder {
  return new MemberBuilder(parts)
}

class MemberBuilder implements Builder {
  readonly #parts: BuilderParts
  /** Id of this process. A process that starts anew does not continue a build of an earlier one. */
  readonly #name: string
  readonly #turns = new FairSemaphore(turns)
  readonly #under = new Map<string, Promise<void>>()
  readonly #closing = new AbortController()
  #stopLooking = () => {}

  constructor(parts: BuilderParts) {
    this.#parts = parts
    this.#name = `${parts.self}/${parts.env.uuid()}`
  }

  async take(id: string | null): Promise<boolean> {
    const { builds } = this.#parts
    if (!builds || this.#closing.signal.aborted) return false
    if (id === null) return true
    const build = await takeBuild(this.#parts, id, this.#name)
    const work = this.#work(build).catch((error: unknown) =>
      this.#parts.env.log.error('A build failed.', { error, revision: build.revision })
    ).finally(() => this.#under.delete(id))
    this.#under.set(id, work)
    return true
  }

  begin(): void {
    const { directory, env } = this.#parts
    clearBuilds(buildsIn(directory)).catch((error: unknown) =>
      env.log.warn('What is left of former builds cannot be removed.', { error })
    )
    const look = () =>
      void this.#look().catch((error: unknown) =>
        this.#parts.env.log.warn('Builds cannot be looked after now.', { error })
      )
    look()
    this.#stopLooking = this.#parts.env.every(lookMs, look)
  }

  async close(): Promise<void> {
    this.#stopLooking()
    this.#closing.abort(new HeddleError('unavailable', 'The server that built it was stopped: ' +
      'deploy it again.'))
    await Promise.all(this.#under.values())
  }

  async #work(build: Build): Promise<void> {
    const { env, records, self } = this.#parts
    const lines = new BuildLines(records, build, self, env)
    let leave: (() => void) | undefined
    try {
      leave = await this.#turns.enter(build.tenant, this.#closing.signal)
      await this.#build(build, lines)
    } catch (error) {
      if (!(error instanceof RevisionError) && HeddleError.from(error).code === 'internal') {
        env.log.error('A build failed.', { error, revision: build.revision })
      }
      lines.add(reasonOf(error))
      await lines.end()
      return await end(this.#parts, build, reasonOf(error))
    } finally {
      leave?.()
    }
    await activateBuilt(this.#parts, build)
  }

  async #build(build: Build, lines: BuildLines): Promise<void> {
    const { documents, directory, variables, allowed, env, ignoreAuth,
      build: made = buildRemotely } = this.#parts
    const { id, source, config, wantsEnv, git, tenant } = build
    await made({ source, config, said: { wantsEnv, source: git }, platform: platformHere(),
      scope: tenant, ignoreAuth, directory: buildsIn(directory), env, variables,
      ...allowed && { allowed }, signal: this.#closing.signal, say: (line) => lines.add(line),
      fetch: (to) => fetchSource(documents, id, source, to) }, async (built) => {
      for (const warning of built.warnings) lines.add(warning)
      const { archives } = built.manifest
      lines.add(`Built: ${archives.filter(({ kind }) => kind === 'package').length} packages, ` +
        `${archives[0]!.files} own files.`)
      await lines.end()
      await this.#store(build, built)
    })
  }

  async #store(build: Build, built: RemotelyBuilt): Promise<void> {
    const { records, catalogs, documents } = this.#parts
    const { deployment, revision } = await revisionOfBuild(this.#parts, build)
    const ended = await records.endBuild(deployment, revision, built.manifest)
    for (const sha256 of await records.missing(ended)) {
      await records.putChunk(ended, sha256, await built.chunk(sha256))
    }
    await moved(catalogs, build, 'building', 'built')
    await documents.dropDocuments(sourcePlace(build.id))
    await records.note(deployment.id, { kind: 'revision', by: build.by,
      data: { revision: ended.name, state: ended.state } })
  }

  /** Every member looks after its own former builds, and one after those of the others. */
  async #look(): Promise<void> {
    const { catalogs, env, self, owns, isMember } = this.#parts
    for (const record of await recordsOf(catalogs, buildCatalog, { sortBy: 'created',
      descending: false })) {
      const build = buildOf(record)
      const [member = ''] = (build.builder ?? '').split('/')
      if (member !== self && !owns()) continue
      const isAlive = (builder: string) =>
        member === self ? builder === this.#name : isMember(member)
      const reason = endOf(build, env.nowMs(), isAlive)
      if (reason !== undefined) await end(this.#parts, build, reason)
      else if (build.phase === 'built' && !isAlive(build.builder ?? '')) {
        await activateBuilt(this.#parts, build)
      }
    }
  }
}

/** Ends a build: refuses its revision and removes its files. It may be called again. */
async function end(parts: BuilderParts, build: Build, reason: string): Promise<void> {
  const { records, documents, catalogs } = parts
  const found = await revisionOfBuild(parts, build).catch(ignoreNotFound)
  const state = found?.revision.state
  if (found && (state === 'building' || state === 'uploading')) {
    await records.changeRevision(found.revision, { state: 'refused', reason, expiresAtMs: null })
    await records.note(build.deploymentId, { kind: 'revision', by: build.by,
      data: { revision: build.revision, state: 'refused', reason } })
  }
  await documents.dropDocuments(sourcePlace(build.id))
  await catalogs.delete(buildCatalog, build.id).catch(ignoreNotFound)
}

/** Makes a revision that was built active, if its build says so. Then the build is over. */
async function activateBuilt(parts: BuilderParts, build: Build): Promise<void> {
  const { rollouts, catalogs, documents, env } = parts
  const { deployment, revision, by } = build
  try {
    for (let tries = 1; build.activates; tries++) {
      try {
        await rollouts.activate(deployment, revision, { by, wait: false })
        break
      } catch (error) {
        if (HeddleError.from(error).code !== 'stale' || tries === activateTries.count) throw error
        await pause(env, activateTries.pauseMs)
      }
    }
  } catch (error) {
    return await end(parts, build, `It was not activated: ${reasonOf(error)}`)
  }
  await documents.dropDocuments(sourcePlace(build.id))
  await catalogs.delete(buildCatalog, build.id).catch(ignoreNotFound)
}

function buildsIn(directory: string): string {
  return join(directory, 'builds')
}

function reasonOf(error: unknown): string {
  return error instanceof RevisionError ? error.message : HeddleError.from(error).message
}
