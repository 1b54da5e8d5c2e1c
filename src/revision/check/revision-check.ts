/** Loads the graphs of an unpacked revision as a deployment does, to see whether they load. */

import { join } from 'node:path'

import type { Env } from '../../../cluster/index.ts'
import { startGraphProcess } from '../../graph/index.ts'
import type { GraphProcessOptions } from '../../graph/index.ts'
import type { HeldRevision } from '../cache/revision-cache.ts'
import type { Manifest } from '../manifest.ts'

/** Characters of what the process prints that are kept for the message of a failure. */
const printedMax = 2_000

/** A graph that was loaded, or why it was not. */
export interface CheckedGraph {
  readonly graphId: string
  /** In the order of the graph. Empty for one that cannot be loaded. */
  readonly nodes: readonly string[]
  /** Why it cannot be loaded, with the place in the project's code; null if it was. */
  readonly failure: string | null
}

/** A revision to check, with all that the process of a deployment gets. */
export interface RevisionCheck
  extends Pick<GraphProcessOptions, 'variables' | 'workers' | 'memoryMb' | 'ignoreAuth'> {
  readonly held: Pick<HeldRevision, 'root' | 'configFile'>
  readonly manifest: Pick<Manifest, 'platform'>
  readonly env: Env
}

/**
 * The graphs of a revision that is on disk, with their nodes. Throws an error with the reason if
 * the process ends before: the code exits, uses up its memory or does not return.
 */
export async function checkGraphs(
  { held: { root, configFile }, manifest, ...options }: RevisionCheck,
): Promise<readonly CheckedGraph[]> {
  let printed = ''
  const host = await startGraphProcess({
    ...options,
    configFile,
    // Packages lie beside the own files.
    folder: join(root, '..'),
    allowsAddons: manifest.platform !== null,
    printed: (line, level) => {
      if (level === 'warn') printed = `${printed} ${line}`.slice(-printedMax)
    },
  }).catch((error: Error) => {
    throw new Error(`${error.message}${printed}`, { cause: error })
  })
  const graphs = host.graphs().map(({ graphId, nodes, failed, failure }) => ({
    graphId,
    nodes: [...nodes],
    failure: failed ? failure ?? 'it cannot be loaded' : null,
  }))
  await host.close()
  return graphs
}
