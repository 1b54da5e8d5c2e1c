/** Projects that name guards which are not offered: earlier programs served them open. */

import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'

import { guardFaultOfFile } from '../../graph/index.ts'
import type { Settings } from '../../settings/index.ts'
import type { Finding } from './checks.ts'

const configName = 'langgraph.json'
/** Folders above a langgraph.json within a revision, and folders that are looked at. */
const [depthMax, foldersMax] = [4, 20_000]

/**
 * Finding about the server's project and the revisions unpacked here: those that would be refused.
 */
export async function examineGuards({ config, dataDirectory, ignoreAuth }: Pick<Settings,
  | 'config'
  | 'dataDirectory'
  | 'ignoreAuth'>): Promise<Finding> {
  const check = 'projects'
  if (ignoreAuth) return { check, verdict: 'ok', message: '--ignore-auth serves all of them.' }
  const isFolder = await stat(config).then((found) => found.isDirectory(), () => false)
  const own = await guardFaultOfFile(isFolder ? join(config, configName) : config)
  if (own !== undefined) {
    return { check, verdict: 'bad', message: 'The project of the server would be refused.',
      cure: `${own}.` }
  }
  const faults = await revisionFaults(join(dataDirectory, 'revisions'))
  if (faults.length === 0) {
    return { check, verdict: 'ok', message: 'None names a guard that is not offered.' }
  }
  return { check, verdict: 'warn', message: `${faults.length} revisions of deployments that this ` +
    'machine has would be refused; those that are active would answer no longer.',
    cure: `${faults[0]}.` }
}

async function revisionFaults(directory: string): Promise<readonly string[]> {
  const faults: string[] = []
  let left = foldersMax
  const look = async (folder: string, depth: number): Promise<void> => {
    if (left-- <= 0) return
    for (const entry of await readdir(folder, { withFileTypes: true }).catch(() => [])) {
      const path = join(folder, entry.name)
      if (entry.isFile() && entry.name === configName) {
        const fault = await guardFaultOfFile(path)
        if (fault !== undefined) faults.push(fault)
      } else if (entry.isDirectory() && entry.name !== 'node_modules' && depth < depthMax) {
        await look(path, depth + 1)
      }
    }
  }
  // Own files lie below the packages that they need.
  await look(directory, -2)
  return faults
}
