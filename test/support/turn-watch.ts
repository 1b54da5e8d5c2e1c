/**
 * Loaded into a server by --import: measures how much processor time the longest turn of its event
 * loop took. SIGUSR2 prints that, and begins anew. Time of other processes does not count.
 */

import process from 'node:process'
import { isMainThread } from 'node:worker_threads'

/** Milliseconds between looks, shorter than any turn that counts. */
const lookMs = 1

function processorMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1_000
}

if (isMainThread) {
  let longest = 0
  let before = processorMs()
  const look = () => {
    longest = Math.max(longest, processorMs() - before)
    before = processorMs()
  }
  setInterval(look, lookMs).unref()
  process.on('SIGUSR2', () => {
    look()
    process.stderr.write(`longest turn: ${longest.toFixed(1)} ms\n`)
    longest = 0
  })
}
