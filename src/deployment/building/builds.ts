/** Builds of revisions on members, from files that were uploaded. */

import type { Manifest, ManifestArchive } from '../../revision/index.ts'
import type { Deployment } from '../deployment.ts'
import type { Revision } from '../revision.ts'
import type { BuildPhase } from './build-record.ts'

/** Request for a build, with the form of its files. */
export interface NewBuild {
  readonly by: string
  readonly message: string
  /** The archive of the own files; undefined for a tar file that is uploaded to an address. */
  readonly archive?: ManifestArchive
  /** The langgraph.json, from the root of the files. */
  readonly config?: string
  readonly wantsEnv?: readonly string[]
  readonly source?: Manifest['source']
}

/** A build that waits for its files. */
export interface BegunBuild {
  readonly revision: Revision
  /** Chunks that must be uploaded, by SHA-256. */
  readonly missing: readonly string[]
  /** The end of the address that takes a tar file, once; empty if the files are an archive. */
  readonly address: string
}

/** Request to start a build whose files were uploaded. */
export interface StartRequest {
  readonly by: string
  readonly config?: string
  /** True if the revision is made active once it is built. */
  readonly activates: boolean
}

/**
 * Builds of all deployments, of every owner. All methods throw HeddleError; `not_ready` if no
 * member builds.
 */
export interface Builds {
  begin(deployment: Deployment, build: NewBuild): Promise<BegunBuild>
  /** `not_found`, `invalid`. */
  putChunk(revision: Revision, sha256: string, data: Uint8Array): Promise<void>
  /** Takes a file at an address: once, and until it expires. `not_found`, `too_large`. */
  receive(address: string, content: AsyncIterable<Uint8Array>): Promise<void>
  /** Resolves when a member has begun. `not_ready` before all is uploaded, `stale` if it has. */
  start(revision: Revision, options: StartRequest): Promise<void>
  /** Phase of the build; undefined if it has ended. */
  phase(revision: Revision): Promise<BuildPhase | undefined>
}
