/** Lets a process that we started end with us, however we end. */

import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'

/**
 * Lets a shell wait for our end: it holds a pipe that the system closes when we die, even by
 * SIGKILL, and then it kills the process. A line in the pipe says that it is gone already.
 */
export function endWithUs(program: ChildProcess): void {
  const guard = spawn('sh', ['-c', 'read -r gone || kill -9 "$1"', 'sh', String(program.pid)],
    { detached: true, stdio: ['pipe', 'ignore', 'ignore'] })
  guard.stdin.on('error', () => undefined)
  guard.unref()
  program.once('exit', () => guard.stdin.end('gone\n'))
}
