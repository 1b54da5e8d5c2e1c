/** The messages between Heddle and the process that builds components: plain data. */

import type { UiEntry } from './ui-plan.ts'
import type { FileTimes } from '../file-times.ts'
import type { GraphComponents } from './component-file.ts'

/** Components to build. */
export interface BundlesWanted {
  /** Folder of the project. */
  readonly root: string
  /** Folder that every source must be in; undefined for any. */
  readonly within: string | undefined
  readonly entries: readonly UiEntry[]
  readonly shared: readonly string[]
}

/** Result for one graph. */
export type Bundled =
  | GraphComponents & {
    /** The project's own files that it was made of, by absolute paths, as they were then. */
    readonly sources: FileTimes
    readonly warnings: readonly string[]
  }
  | { readonly graphId: string; readonly failure: string }
