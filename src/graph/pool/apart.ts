/** The entry of a process with one graph worker: passes its messages on, and ends with it. */

import { writeFileSync } from 'node:fs'
import { setFlagsFromString } from 'node:v8'

import { v8Flags } from '../../settings/index.ts'
import { workerThread } from './carrier.ts'
import type { Carrier, FromApart, ToApart, WorkerStart } from './carrier.ts'

for (const flag of v8Flags) setFlagsFromString(flag)
preferredByTheKernel()

let worker: Carrier | undefined

process.on('message', (message: ToApart) => {
  if ('start' in message) start(message.start)
  else worker?.post(message.mails)
})
// A terminal sends these to the whole group. The server decides when its runs end.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => {})
// The server has ended: a graph that never returns must not be left over.
process.on('disconnect', () => process.exit(1))

function start(options: WorkerStart): void {
  worker = workerThread(options, {
    mails: (mails) => send({ mails }),
    full: () => send({ full: true }),
    failed: (error) => send({ failed: error.stack ?? error.message }),
    exited: (code) => process.send!({ mails: [] } satisfies FromApart, () => process.exit(code)),
  }, { printsItself: true })
}

function send(message: FromApart): void {
  process.send!(message, () => {})
}

/** Makes the kernel end this process before the server where memory runs out. */
function preferredByTheKernel(): void {
  try {
    writeFileSync('/proc/self/oom_score_adj', '1000')
  } catch {
    // Only Linux has this file.
  }
}
