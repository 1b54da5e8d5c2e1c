/**
 * The certificates that a deployment names in `NODE_EXTRA_CA_CERTS`. Node opens the file when the
 * process starts, before its permissions apply.
 */

import { realpathSync, statSync } from 'node:fs'
import { resolve } from 'node:path'

import { isOutside } from '../project/project.ts'

/** The variable that names the file. */
export const certificatesVariable = 'NODE_EXTRA_CA_CERTS'

/** Folders of a project. */
export interface CertificateBounds {
  /** Folder that a relative path starts from. */
  readonly root: string
  /** Folder in which the file has to be. */
  readonly folder: string
}

/** Returns the path without links of a named file; undefined if it is no file in the folder. */
export function ownCertificates(named: string, { root, folder }: CertificateBounds):
  | string
  | undefined {
  try {
    const file = realpathSync(resolve(root, named))
    return statSync(file).isFile() && !isOutside(realpathSync(folder), file) ? file : undefined
  } catch {
    return undefined
  }
}
