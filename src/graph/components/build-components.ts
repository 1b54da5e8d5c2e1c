/** Builds the components of a project in a process of its own, within bounds of time and bytes. */

import { fork } from 'node:child_process'
import { basename } from 'node:path'
import { fileURLToPath } from 'node:url'

import { HeddleError } from '../../errors.ts'
import { uiPlanOf } from './ui-plan.ts'
import type { ProjectWithUi } from './ui-plan.ts'
import type { FileTimes } from '../file-times.ts'
import type { Bundled, BundlesWanted } from './bundle-mail.ts'
import { componentLimits } from './component-file.ts'
import type { GraphComponents } from './component-file.ts'

/** All components of a project. */
export interface BuiltComponents {
  readonly graphs: readonly GraphComponents[]
  /** The project's own files that they were made of, as they were then. */
  readonly sources: FileTimes
  readonly warnings: readonly string[]
}

/** MiB of memory that the process may fill, without the compiler that it starts. */
const heapMb = 256

/**
 * Builds the components that a langgraph.json names. With `within`, every source must be in that
 * folder. Throws `invalid`, with each file and the reason.
 */
export async function buildComponents(project: ProjectWithUi,
  { within }: { readonly within?: string } = {}): Promise<BuiltComponents> {
  const { root, configFile } = project
  const { entries, shared } = uiPlanOf(project)
  if (entries.length === 0) return { graphs: [], sources: [], warnings: [] }
  const bundled = await bundledBy({ root, within, entries, shared })
  const graphs = bundled.flatMap((each) => 'failure' in each ? [] : [each])
  const faults = bundled.flatMap((each) =>
    'failure' in each ? [`ui.${each.graphId}: ${each.failure}`] : []
  )
  const missing = entries.filter(({ graphId }) => !bundled.some((each) => each.graphId === graphId))
  faults.push(
    ...missing.map(({ graphId }) =>
      `ui.${graphId}: it was not built within ${
        componentLimits.buildMs / 1_000
      } seconds, or took ` +
      'too much memory'
    ),
  )
  const bytes = graphs.flatMap(({ files }) => files)
    .reduce((sum, { content }) => sum + content.length, 0)
  if (bytes > componentLimits.projectBytes) {
    faults.push(`its components have ${bytes} bytes together, and may have ` +
      `${componentLimits.projectBytes}`)
  }
  if (faults.length > 0) {
    throw new HeddleError('invalid', `${basename(configFile)}: components cannot be built.\n` +
      faults.join('\n'))
  }
  return { graphs: graphs.map(({ graphId, files }) => ({ graphId, files })),
    sources: graphs.flatMap(({ sources }) => sources),
    warnings: [...new Set(graphs.flatMap((each) => each.warnings))] }
}

/** Components that the process built until it ended. */
async function bundledBy(wanted: BundlesWanted): Promise<readonly Bundled[]> {
  const child = fork(fileURLToPath(new URL('./bundle-process.ts', import.meta.url)), [], {
    execArgv: [`--max-old-space-size=${heapMb}`],
    env: environment(),
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    serialization: 'advanced',
    timeout: componentLimits.buildMs,
    killSignal: 'SIGKILL',
  })
  const bundled: Bundled[] = []
  const ended = Promise.withResolvers<void>()
  child.on('message', (each: Bundled) => bundled.push(each))
  child.on('error', () => ended.resolve())
  // Later than its exit: all that it sent was received.
  child.on('disconnect', () => ended.resolve())
  child.send(wanted, () => {})
  await ended.promise
  return bundled
}

/** The compiler reads files and nothing else, so that it needs no secret. */
function environment(): NodeJS.ProcessEnv {
  const { PATH, SYSTEMROOT, NODE_COMPILE_CACHE } = process.env
  return { PATH, SYSTEMROOT, NODE_COMPILE_CACHE }
}
