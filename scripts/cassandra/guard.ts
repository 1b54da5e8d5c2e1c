/** Makes a child process end with this one, however this one ends. */

import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'

/**
 * Starts a shell that reads from a pipe. The system closes the pipe when this process dies, even by
 * SIGKILL; the shell then kills the child. A line in the pipe means that the child has ended.
 */
export function endWithUs(program: ChildProcess): void {
  const guard = spawn('sh', ['-c', 'read -r gone || kill -9 "$1"', 'sh', String(program.pid)], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  })
  guard.stdin.on('error', () => undefined)
  guard.unref()
  program.once('exit', () => guard.stdin.end('gone\n'))
}
