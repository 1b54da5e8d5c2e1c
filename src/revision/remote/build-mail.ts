/** Messages to and from a build process. */

import type { Manifest, ManifestArchive } from '../manifest.ts'
import type { Platform } from '../closure/platform.ts'
import type { RevisionFault } from '../revision-error.ts'
import type { RevisionLimits } from '../revision-limits.ts'
import { climbsMax } from './foreign-packages.ts'

/**
 * The files of a project as they were uploaded:
 * archive  a package archive, whose chunks lie in a folder by SHA-256
 * tar      a gzipped tar file of another program
 */
export type SourceForm =
  | { readonly kind: 'archive'; readonly archive: ManifestArchive }
  | { readonly kind: 'tar' }

/** Task of a build process. */
export interface BuildTask {
  readonly source: SourceForm
  /** The langgraph.json, from the root of the files. */
  readonly config: string
  /** Details that the uploaded files do not contain, as the caller gave them. */
  readonly said: { readonly wantsEnv: readonly string[]; readonly source: Manifest['source'] }
  readonly platform: Platform
  /** True to leave the login out that a project names. */
  readonly ignoreAuth?: boolean | undefined
  /** Owner of installed packages that the build may take. */
  readonly scope: string
  readonly limits: RevisionLimits
  /** Hosts and ranges of the server's network that packages may come from; none by default. */
  readonly allowed?: readonly string[]
  /** Folder for everything that the build writes, except for packages that are kept. */
  readonly work: string
  /** Folder of installed packages that are kept. */
  readonly installed: string
}

/** Messages of a build process: lines, and one end. */
export type BuildMail =
  | { readonly kind: 'line'; readonly text: string }
  | { readonly kind: 'done'; readonly manifest: Manifest; readonly warnings: readonly string[] }
  | { readonly kind: 'refused'; readonly code: RevisionFault | 'invalid'; readonly message: string }

/**
 * Names in the folder of a build. The project lies deep, so that places above it stay in the
 * folder.
 */
export const inWork = { source: 'source',
  project: ['project', ...Array<string>(climbsMax).fill('_')]
    .join('/'), chunks: 'chunks', home: 'home', empty: 'empty', aside: 'aside' } as const
