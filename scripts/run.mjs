#!/usr/bin/env node
// Runs a program of this repository on Node 24, from any Node: run.mjs <file> [argument…]
import { spawn } from 'node:child_process'

import { findNode24, noNode24 } from './node24.mjs'

const node = findNode24()
if (node === undefined) {
  console.error(noNode24())
  process.exit(1)
}

const program = spawn(node, process.argv.slice(2), { stdio: 'inherit' })
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
  process.on(signal, () => program.kill(signal))
}
program.on('exit', (code, signal) => {
  if (signal === null) process.exit(code)
  process.removeAllListeners(signal)
  process.kill(process.pid, signal)
})
