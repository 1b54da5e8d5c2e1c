/** Chooses among the processes of a revision by their secrets and recording. Pure. */

import { secretsKey } from '../secret-set.ts'
import { choose } from './retention.ts'
import type { ProcessOptions, RevisionProcess } from './revision-process.ts'

/** True for a process without usable graphs. */
export function isInVain({ failure }: RevisionProcess): boolean {
  return failure?.isWhole === true
}

/** The process that has the secrets. Without sets, the oldest process that is new enough. */
export function chosen(processes: readonly RevisionProcess[], options: ProcessOptions):
  | RevisionProcess
  | undefined {
  return choose(processes.filter((process) => matches(process, options)), Number.NEGATIVE_INFINITY)
}

/** True if the process records as the options specify, and has their secrets or newer ones. */
export function matches({ envVersion, secrets, record }: RevisionProcess,
  options: ProcessOptions): boolean {
  if (record !== options.record) return false
  return secrets === undefined || options.secrets === undefined
    ? envVersion >= options.envVersion
    : secretsKey(secrets) === secretsKey(options.secrets)
}
