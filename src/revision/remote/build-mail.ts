/** What a build process receives, and what it sends. */

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

/** What is built. */
export interface BuildTask {
  readonly source: SourceForm
  /** The langgraph.json, from the root of the files. */
  readonly config: string
  /** What its files are not there to say. */
  readonly said: { readonly wantsEnv: readonly string[]; readonly source: Manifest['source'] }
  readonly platform: Platform
  /** Whether it is built although it names guards that are not offered. */
  readonly ignoreAuth?: boolean | undefined
  /** Whose packages it may take that are installed already. */
  readonly scope: string
  readonly limits: RevisionLimits
  /** Hosts and ranges of the server's network that packages may come from; none by default. */
  readonly allowed?: readonly string[]
  /** Everything that it writes lies below it, but for packages that are kept. */
  readonly work: string
  /** Where installed packages are kept. */
  readonly installed: string
}

/** What a build process sends: lines, and one end. */
export type BuildMail =
  | { readonly kind: 'line'; readonly text: string }
  | { readonly kind: 'done'; readonly manifest: Manifest; readonly warnings: readonly string[] }
  | { readonly kind: 'refused'; readonly code: RevisionFault | 'invalid'; readonly message: string }

/** Names of what lies in the folder of a build. What a lock file may name lies in it as well. */
export const inWork = { source: 'source',
  project: ['project', ...Array<string>(climbsMax).fill('_')]
    .join('/'), chunks: 'chunks', home: 'home', empty: 'empty', aside: 'aside' } as const
