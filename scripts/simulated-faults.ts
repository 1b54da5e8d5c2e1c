/**
 * Puts faults in, one at a time, and prints which rule of the verification finds each in simulated
 * members: simulated-faults.ts [--seconds <of each>] [--root <checkout>] [part of a name or path…]
 * The checkout must not be used for anything else meanwhile.
 */

import { spawn } from 'node:child_process'
import { resolve } from 'node:path'
import { parseArgs } from 'node:util'

import { chooseFaults, plantFault } from './planted-fault.ts'
import { simulatedFaults } from './simulated-fault-list.ts'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    root: { type: 'string', default: resolve(import.meta.dirname, '..') },
    seconds: { type: 'string', default: '600' },
  },
})
const root = resolve(values.root)
/** More operations than a fault may take. */
const operations = '1000000'

let takeBack = () => {}
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(signal, () => {
    takeBack()
    process.exit(1)
  })
}

/** Verifies until a rule is broken or the time is up. Resolves with the rule and the seed. */
function verify(): Promise<string> {
  const args = ['verify/main.ts', '--target', 'in-process', '--seed', '1', '--operations',
    operations]
  const child = spawn(process.execPath, args, { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] })
  const timer = setTimeout(() => child.kill(), Number(values.seconds) * 1_000)
  let [output, errors] = ['', '']
  child.stderr.on('data', (bytes: Buffer) => errors += bytes.toString())
  child.stdout.on('data', (bytes: Buffer) => {
    output += bytes.toString()
    // The search for the shortest beginning follows.
    if (/^World /m.test(output)) child.kill()
  })
  return new Promise((found) => {
    child.once('exit', (code) => {
      clearTimeout(timer)
      const [, seed, rule] = /^World (\d+) breaks: (.*)$/m.exec(output) ?? []
      const crash = code === null || code === 0 ? undefined : /^\w*Error.*$/m.exec(errors)?.[0]
      found(rule === undefined ? crash ?? 'nothing' : `${rule} (seed ${seed})`)
    })
  })
}

const chosen = chooseFaults(simulatedFaults, positionals)
console.log('| fault | file | found by | seconds |\n|---|---|---|---|')
for (const fault of chosen) {
  const startMs = performance.now()
  takeBack = plantFault(root, fault)
  try {
    const found = await verify()
    const seconds = Math.round((performance.now() - startMs) / 1_000)
    console.log(`| ${fault.name} | \`${fault.file}\` | ${found} | ${seconds} |`)
  } finally {
    takeBack()
    takeBack = () => {}
  }
}
