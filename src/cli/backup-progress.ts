/** Progress of long work on a backup, as lines for people. */

import { basename } from 'node:path'

import type { Env } from '../../cluster/index.ts'
import type { BackupProgress, ReportProgress } from '../server/operator/backup.ts'
import { megabytes } from './megabytes.ts'

/** Files below this size take too little time to be reported. */
const reportedBytes = 64 * 1024 * 1024
/** The shortest time between two lines about one file. */
const pauseMs = 2_000

/** Returns a function that prints lines when work on a large file starts, and while it lasts. */
export function progressLines(env: Pick<Env, 'monotonicMs'>,
  note: (text: string) => void): ReportProgress {
  let printedMs = 0
  return ({ work, file, bytes, done }: BackupProgress) => {
    if (bytes < reportedBytes) return
    const nowMs = env.monotonicMs()
    if (done > 0 && nowMs - printedMs < pauseMs) return
    printedMs = nowMs
    const share = done > 0 ? `, ${Math.floor(100 * done / bytes)} %` : ''
    note(`${work} ${basename(file)} (${megabytes(bytes)} MB${share}).\n`)
  }
}
