/** The records of deployments: what the control API, roll-outs and members read and change. */

import type { ReadChunk, Manifest } from '../revision/index.ts'
import type { Deployment, DeploymentChange, DeploymentLimits, DeploymentAccess,
  Preview } from './deployment.ts'
import type { DeploymentEvent, NewEvent, OwedEvent } from './deployment-event.ts'
import type { Revision, RevisionChange } from './revision.ts'
import type { RevisionUse } from './revision-use.ts'
import type { SecretSet } from './secret-set.ts'

/** Request for a new deployment. */
export interface NewDeployment {
  readonly name: string
  readonly tenant: string
  readonly access?: DeploymentAccess
  readonly hosts?: readonly string[]
  readonly limits?: Partial<DeploymentLimits>
  readonly record?: string | null
  readonly preview?: Preview
  /** True if it is removed unless a build of it succeeds. */
  readonly provisional?: boolean
}

/** Request for a new revision. */
export interface NewRevision {
  /** As it came: it is checked when the revision begins. */
  readonly manifest: unknown
  readonly message: string
  readonly by: string
}

/** A revision with the chunks that must still be uploaded, by SHA-256. */
export interface BegunRevision {
  readonly revision: Revision
  readonly missing: readonly string[]
  /** True if it was there already: the hash is the same. */
  readonly known: boolean
}

/**
 * All deployments of the cluster, of every owner. The caller has to check the rights of its own
 * callers. All methods throw HeddleError.
 */
export interface Deployments {
  /** `exists` if a tenant has the name or a host, or another had it; `full`; `invalid`. */
  create(options: NewDeployment): Promise<Deployment>
  /** `not_found`. */
  get(name: string): Promise<Deployment>
  /** Sorted by name. Without a tenant, those of all. */
  list(
    query: { readonly tenant?: string; readonly limit: number; readonly offset: number },
  ): Promise<readonly Deployment[]>
  /** `stale` if it was changed since it was read, or is being removed. */
  change(deployment: Deployment, change: DeploymentChange): Promise<Deployment>
  /** Removes its revisions, chunks, events, secrets and record. It may be called again. */
  remove(deployment: Deployment): Promise<void>

  /** The newest first. */
  revisions(deployment: Deployment,
    query: { readonly limit: number; readonly offset: number }): Promise<readonly Revision[]>
  /** `not_found`. */
  revision(deployment: Deployment, name: string): Promise<Revision>
  /**
   * The same hash gives the revision that has it, unless that was refused or removed. `full`;
   * `invalid` or `too_large` for what is no manifest.
   */
  beginRevision(deployment: Deployment, options: NewRevision): Promise<BegunRevision>
  /** One that is built here, from uploaded files: it has no manifest yet. */
  beginBuild(deployment: Deployment, options: Omit<NewRevision, 'manifest'>): Promise<Revision>
  /** Gives a revision that was built its manifest. */
  endBuild(deployment: Deployment, revision: Revision, manifest: Manifest): Promise<Revision>
  changeRevision(revision: Revision, change: RevisionChange): Promise<Revision>
  /**
   * Removes its chunks that no other revision has. `in_use` is for the caller to refuse: `stale` if
   * the deployment points to it now, and did not when it was read.
   */
  removeRevision(deployment: Deployment, revision: Revision): Promise<Revision>
  /**
   * Removes the revisions that retention does not keep, uploads that expired, and what is left of
   * removals that were cut off. Returns those that it removed. It is called every few minutes.
   */
  collect(deployment: Deployment,
    use: ReadonlyMap<string, RevisionUse>): Promise<readonly Revision[]>
  manifest(revision: Revision): Promise<Manifest>
  /** The chunks that are not there. */
  missing(revision: Revision): Promise<readonly string[]>
  /**
   * Stores a chunk. `not_found` if the manifest does not name it, `invalid` if the bytes do not
   * have that hash. One that is there already is done.
   */
  putChunk(revision: Revision, sha256: string, data: Uint8Array): Promise<void>
  /** Reads chunks of a deployment. Throws if one is missing or its bytes are not true. */
  readChunks(deploymentId: string): ReadChunk

  /** Adds to the log of what was done, by whom and when. */
  note(deploymentId: string, event: NewEvent): Promise<DeploymentEvent>
  /** The same for an event of a roll-out, once: one whose mark is not above the last is noted. */
  noteOwed(deploymentId: string, event: OwedEvent): Promise<void>
  /** Forgets the owed events of a deployment as it was read, because all are noted. `stale`. */
  settle(deployment: Deployment): Promise<void>
  /** Oldest first, after a sequence number. */
  events(deploymentId: string, after: number, limit: number): Promise<readonly DeploymentEvent[]>
}

/** A secret as it may be shown: never with its value. */
export interface DeploymentSecret {
  readonly name: string
  readonly version: number
  readonly updatedAtMs: number
}

/** New values by name; null for a secret that is removed. */
export type SecretValues = ReadonlyMap<string, string | null>

/**
 * The secrets of deployments. Those of a deployment that has loaded no set yet are found by its
 * UUID alone. All methods throw HeddleError.
 */
export interface DeploymentSecrets {
  list(deploymentId: string): Promise<readonly DeploymentSecret[]>
  /**
   * All values of a set, for a process that is started. `unavailable` if one is gone: another set
   * was loaded meanwhile.
   */
  reveal(deploymentId: string, set?: SecretSet): Promise<Readonly<Record<string, string>>>
  /**
   * Seals values for a change of some secrets, or removes those that are null. Nothing counts
   * before the record of the deployment names it. `full` with 100 names, `invalid` for a name or
   * value, or if this server has no key.
   */
  seal(deployment: Deployment, change: SecretValues): Promise<SecretSet>
  /** Names of those that this server has no key for: no process can start with them. */
  unopened(deployment: Deployment): Promise<readonly string[]>
  /**
   * The secrets of its processes as a set whose values never change. Those that `change` replaces
   * need not be opened.
   */
  fixed(deployment: Deployment, change?: SecretSet): Promise<SecretSet>
  /**
   * Publishes the loaded set for programs before sets, and removes values that no record names.
   * Call after changes.
   */
  settle(deployment: Deployment): Promise<void>
  /** Removes all secrets of a deployment. */
  drop(deploymentId: string): Promise<void>
}
