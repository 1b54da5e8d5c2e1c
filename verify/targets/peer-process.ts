/** Processes of servers other than Heddle. */

import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'

import { until } from '../../test/bench/patience.ts'

const startMs = 60_000

/** Resolves when the URL returns 2xx. Rejects after a minute. */
export async function waitForUrl(url: string): Promise<void> {
  await until(startMs, `a response of ${url}`,
    async () => await fetch(url).then(({ ok }) => ok || undefined, () => undefined))
}

/** Ends a process with SIGKILL, and resolves when it has ended. */
export async function killProcess(child: ChildProcess): Promise<void> {
  const exited = once(child, 'exit')
  child.kill('SIGKILL')
  await exited
}
