/** The V8 flags of the server: this Node knows them, and they do what they are for. */

import { spawnSync } from 'node:child_process'

import { expect, it } from 'vitest'

import { v8Flags } from '../../../src/settings/v8-flags.ts'

const module = JSON.stringify(new URL('../../../src/settings/v8-flags.ts', import.meta.url))

/** Calls a function 400 times, and prints whether V8 has optimised it fully. */
const calls = `
  const fullyOptimised = 1 << 6
  function half(number) { return number >> 1 }
  let sum = 0
  for (let call = 0; call < 400; call += 1) sum += half(call)
  console.log((%GetOptimizationStatus(half) & fullyOptimised) !== 0)
`

function run(code: string, ...flags: string[]): string {
  const { stdout, stderr } = spawnSync(process.execPath, [...flags, '--eval', code])
  return `${stdout}${stderr}`.trim()
}

it('V8 knows all flags.', () => {
  expect(run(`(await import(${module})).optimiseSoon()`, ...v8Flags)).toBe('')
})

it('A busy server is optimised after some hundred calls, and no other.', () => {
  const flags = ['--allow-natives-syntax', '--no-concurrent-recompilation', '--no-use-osr']
  expect(run(calls, ...flags)).toBe('false')
  expect(run(`(await import(${module})).optimiseSoon(); ${calls}`, ...flags)).toBe('true')
})

it('The processes of tests have the flags.', () => {
  expect(process.execArgv).toEqual(expect.arrayContaining([...v8Flags]))
})
