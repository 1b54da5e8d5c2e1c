/** The entry of the process that builds uploaded files. It ends with its build. */

import { setPriority } from 'node:os'

import { systemEnv } from '../../../cluster/index.ts'
import type { BuildMail, BuildTask } from './build-mail.ts'
import { doBuild } from './do-build.ts'

/** Priority of a build, which is lower than that of runs. */
const niceness = 10

const env = systemEnv({ level: 'silent' })
const send = (mail: BuildMail) =>
  new Promise<void>((resolve) => void process.send?.(mail, () => resolve()))
const say = (text: string) => void send({ kind: 'line', text })

// The server has ended: the build ends with all programs that it has begun.
process.once('disconnect', endAll)
process.once('message', (task) => {
  setPriority(niceness)
  void doBuild(task as BuildTask, { say, env }).then(send).then(() => process.exit(0))
})

function endAll(): void {
  try {
    process.kill(-process.pid, 'SIGKILL')
  } catch {
    process.exit(1)
  }
}
