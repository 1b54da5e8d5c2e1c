/** Reads and compiles the project of a graph process, of files in its folder only. */

import { realpath } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'

import { HeddleError } from '../../errors.ts'
import { isMachineFault } from '../machine-fault.ts'
import { compileProject, modulesIn } from '../project/project-compiler.ts'
import type { CompiledProject } from '../project/project-compiler.ts'
import { isOutside, readProject } from '../project/project.ts'
import type { GraphProcessOptions } from './graph-process.ts'

/**
 * The compiled project. The server compiles it, as the compiler is a process, which a graph process
 * may not start. Throws `graph_failed` if it cannot be served, or names a file outside of `folder`:
 * the compiler would read what the process may not. A dotenv file outside of `folder` is not read.
 */
export async function boundedProject(
  { configFile, folder, ignoreAuth, record }: Pick<GraphProcessOptions,
    'configFile' | 'folder' | 'ignoreAuth' | 'record'>,
): Promise<CompiledProject> {
  const project = await readProject(configFile, { deployed: true, within: folder, ignoreAuth,
    record }).catch((error: Error) => {
      const code = isMachineFault(error) ? 'unavailable' : 'graph_failed'
      throw new HeddleError(code, error.message, {}, { cause: error })
    })
  const bounds = await realpath(folder)
  requireWithin(bounds, [project.root, ...modulesIn(project).map(({ file }) => file)])
  const compiled = await compileProject(project)
  const files = [...compiled.sources.keys()].map((url) => fileURLToPath(url))
  requireWithin(bounds, await Promise.all(files.map((file) => realpath(file))))
  return compiled
}

function requireWithin(folder: string, files: readonly string[]): void {
  const stray = files.find((file) => isOutside(folder, file))
  if (stray === undefined) return
  throw new HeddleError('graph_failed',
    `The project uses ${stray}, which is outside of the folder of its revision.`)
}
